// The views of the one tree: by mouse and by keyboard.
const gpt2 = "#explore?model=gpt2&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager&batch=8&seq=128";
const names = (page) => page.locator(".grid-body .title > .name").allTextContents();
const rowOf = (page, name) => page.locator(".grid-body [role=row]", {has: page.locator(".title > .name", {hasText: new RegExp(`^${name}$`)})}).first();

export async function the_tree_is_a_treegrid_with_the_numbers_of_the_api(visit, {ask, assert}) {
  const {page} = await (await visit({hash: `${gpt2}&open=all`})).ready();
  const answer = await ask("predict?model=gpt2&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager&batch=8&seq=128&columns=energy&fold=true");
  let count = 0;
  const visitNode = (node) => {
    ++count;
    node.children.forEach(visitNode);
  };
  visitNode(answer.tree);
  assert.equal(await page.getAttribute("[role=treegrid]", "aria-rowcount"), String(count + 1));
  const layer = rowOf(page, "h\\.\\*");
  assert.equal(await layer.locator(".times").textContent(), "×12");
  assert.equal(await layer.getAttribute("aria-level"), "2");
  const shown = await layer.locator("[role=gridcell].number").first().textContent();
  const joules = answer.tree.children.find(({name}) => name === "h.*").energy_j;
  assert.ok(Math.abs(parseFloat(shown) - +joules.toPrecision(3)) < 1e-9 || shown.includes("m"), `${shown} ${joules}`);
}

export async function rows_open_close_and_are_walked_by_keys(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&open=none`})).ready();
  const {page} = here;
  assert.equal((await names(page)).length, 1);
  const grid = page.getByRole("treegrid");
  await grid.focus();
  await page.keyboard.press("ArrowRight");
  await here.settled();
  const opened = await names(page);
  assert.ok(opened.length > 3, opened.join());
  await page.keyboard.press("ArrowDown");
  await here.settled();
  assert.equal(await page.locator("[role=row][aria-selected=true] .name").first().textContent(), opened[1]);
  const active = await grid.getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`[id="${active}"]`).getAttribute("aria-selected"), "true");
  await page.keyboard.press("Enter");
  await here.settled();
  assert.ok((await names(page)).length > opened.length);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await here.settled();
  assert.equal(await page.locator("[role=row][aria-selected=true] .name").first().textContent(), opened[0]);
  await page.keyboard.press("End");
  await here.settled();
  assert.equal(await page.locator("[role=row][aria-selected=true] .name").first().textContent(), opened.at(-1));
  await page.keyboard.press("Home");
  await here.settled();
  await rowOf(page, opened[0].replace(/[.*]/g, "\\$&")).locator(".arrow").click();
  await here.settled();
  assert.equal((await names(page)).length, 1);
}

export async function heaviest_first_or_in_the_order_of_the_model(visit, {assert}) {
  const {page} = await (await visit({hash: gpt2})).ready();
  const heavy = await names(page);
  await page.getByLabel("Order").selectOption("model");
  await page.waitForFunction((before) => [...document.querySelectorAll(".grid-body .title > .name")].map((name) => name.textContent).join() !== before, heavy.join());
  const order = await names(page);
  assert.ok(order.indexOf("wte") < order.indexOf("h.*"), order.join());
  assert.ok(heavy.indexOf("wte") > heavy.indexOf("h.*"), heavy.join());
}

export async function filters_show_hide_and_focus(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&open=all`})).ready();
  const {page} = here;
  const all = (await names(page)).length;
  const box = page.getByLabel("Filter by name");
  await box.fill("attn");
  await page.waitForFunction((before) => document.querySelectorAll(".grid-body [role=row]").length < before, all);
  await here.hashHas("filter=show:attn");
  assert.ok(!(await names(page)).includes("mlp"));
  assert.ok(/\d+ parts? match/.test(await page.textContent(".filters")));
  await page.keyboard.press("Enter");
  await page.getByLabel("What the filter does").selectOption("hide");
  await box.fill("c_attn");
  await here.hashHas("filter=show:attn~hide:c_attn");
  await page.keyboard.press("Escape");
  await page.getByLabel("What the filter does").selectOption("focus");
  await box.fill("c_proj");
  await here.hashHas("focus:c_proj");
  await page.keyboard.press("Enter");
  await here.settled();
  assert.equal((await names(page))[0], "c_proj");
  await page.click('[aria-label="Remove the filter focus c_proj"]');
  await page.click('[aria-label="Remove the filter show attn"]');
  await page.waitForFunction(() => !location.hash.includes("filter"));
  await box.fill("no such part");
  await page.waitForFunction(() => document.querySelector(".filters").textContent.includes("nothing matches"));
}

export async function levels_columns_and_rates(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&open=all`})).ready();
  const {page} = here;
  const all = +(await page.getAttribute("[role=treegrid]", "aria-rowcount"));
  await page.getByLabel("Level").selectOption("module");
  await page.waitForFunction((before) => +document.querySelector("[role=treegrid]").getAttribute("aria-rowcount") < before, all);
  await page.getByLabel("of", {exact: true}).selectOption("power");
  await here.hashHas("column=power");
  assert.ok((await page.textContent(".grid-row.head")).includes("power"));
  await page.click("button:has-text('Columns')");
  await page.getByLabel("FLOP/B").check();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".grid-row.head .number").count(), 1);
  assert.equal(await page.locator(".grid-row.head .number").textContent(), "FLOP/B");
}

export async function one_selection_is_shared_by_all_views(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&open=all`})).ready();
  const {page} = here;
  await rowOf(page, "mlp").locator(".name").first().click();
  await here.hashHas("select=h.*/mlp");
  for (const view of ["Icicle", "Treemap", "Graph"]) {
    await page.click(`.switch >> text=${view}`);
    await here.settled();
    assert.equal(await page.textContent(".details code"), "h.*/mlp", view);
  }
}

export async function the_icicle_zooms_by_mouse_and_keys(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&view=icicle`})).ready();
  const {page} = here;
  const canvas = page.locator(".picture canvas");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 60, box.y + 36);
  await page.waitForSelector(".card");
  const card = await page.textContent(".card");
  for (const fact of ["energy", "between", "time", "FLOP", "bytes moved", "power", "share"]) assert.ok(card.includes(fact), `${fact}: ${card}`);
  await page.mouse.click(box.x + 60, box.y + 36);
  await here.hashHas("zoom=h.*");
  assert.equal(await page.textContent(".crumbs [aria-current]"), "h.*");
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await here.hashHas("zoom=h.*/");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.hash.includes("zoom="));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await here.settled();
  assert.notEqual(await page.textContent(".details code"), "h.*");
}

export async function the_treemap_zooms(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&view=treemap`})).ready();
  const {page} = here;
  const box = await page.locator(".picture canvas").boundingBox();
  await page.mouse.click(box.x + 40, box.y + 26);
  await page.waitForFunction(() => location.hash.includes("zoom="));
  await page.click("text=Zoom out");
  await page.waitForFunction(() => !location.hash.includes("zoom="));
  assert.equal(await page.locator(".crumbs li").count(), 1);
}

export async function operations_add_up_and_have_a_sandwich(visit, {ask, assert}) {
  const here = await (await visit({hash: `${gpt2}&view=operations&columns=energy`})).ready();
  const {page} = here;
  const answer = await ask("predict?model=gpt2&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager&batch=8&seq=128&columns=energy");
  let sum = 0;
  const visitNode = (node) => {
    if (node.type === "addmm" || (!node.type && node.name === "addmm")) sum += node.energy_j;
    node.children.forEach(visitNode);
  };
  visitNode(answer.tree);
  const row = rowOf(page, "addmm");
  const shown = (await row.locator("[role=gridcell].number").first().textContent()).replace(/\u00a0/g, " ");
  const [number, unit] = shown.split(" ");
  assert.ok(Math.abs(parseFloat(number) * (unit === "mJ" ? 1e-3 : 1) - sum) < 0.006 * sum, `${shown} is not ${sum} J`);
  await row.locator(".name").click();
  await page.click("text=Callers and inside of addmm");
  await here.hashHas("name=addmm");
  assert.equal(await page.getByRole("treegrid").count(), 2);
  assert.ok((await names(page)).includes("Conv1D"), (await names(page)).join());
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("[role=treegrid]").length === 1);
}

// The functions of IrEne-viz, in its order. Model, batch, sequence length and the numbers without a button are above.
export async function irene_1_to_4_model_batch_sequence_and_result(visit, {assert}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  const first = await here.total();
  await page.getByRole("combobox", {name: "Model"}).click();
  await page.getByRole("combobox", {name: "Model"}).fill("bert-base-uncased");
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => document.querySelector("#total").textContent !== before, first);
  const second = await here.total();
  await page.locator('label:has-text("batch") + input').fill("16");
  await page.waitForFunction((before) => document.querySelector("#total").textContent !== before, second);
  const third = await here.total();
  await page.locator('label:has-text("sequence") + input').fill("256");
  await page.waitForFunction((before) => document.querySelector("#total").textContent !== before, third);
}

export async function irene_5_a_click_expands_and_collapses_a_node(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&view=graph&open=none`})).ready();
  const {page} = here;
  assert.equal(await page.locator("svg [role=treeitem]").count(), 1);
  await page.locator("svg [role=treeitem]").first().click();
  await here.settled();
  const open = await page.locator("svg [role=treeitem]").count();
  assert.ok(open > 3, open);
  await page.locator("svg [role=treeitem]").first().click();
  await here.settled();
  assert.equal(await page.locator("svg [role=treeitem]").count(), 1);
  await page.locator("svg[role=tree]").focus();
  await page.keyboard.press("ArrowRight");
  await here.settled();
  assert.equal(await page.locator("svg [role=treeitem]").count(), open);
  await page.keyboard.press("ArrowRight");
  await here.settled();
  assert.equal(await page.locator("svg .node.selected").getAttribute("aria-level"), "2");
}

export async function irene_6_and_7_show_all_and_collapse_to_the_root(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&view=graph`})).ready();
  const {page} = here;
  await page.click("text=Show all");
  await page.waitForFunction(() => document.querySelectorAll("svg [role=treeitem]").length > 40);
  await page.click("text=Collapse to the root");
  await page.waitForFunction(() => document.querySelectorAll("svg [role=treeitem]").length === 1);
}

export async function irene_8_hovering_shows_every_feature(visit, {assert}) {
  const {page} = await (await visit({hash: `${gpt2}&view=graph`})).ready();
  await page.locator("svg [role=treeitem]").nth(1).hover();
  await page.waitForSelector(".card");
  const card = await page.textContent(".card");
  for (const fact of ["energy", "between", "time", "FLOP", "bytes moved", "parameters", "share", "power"]) assert.ok(card.includes(fact), `${fact}: ${card}`);
}

export async function irene_9_colour_is_the_share_and_there_is_a_legend(visit, {assert}) {
  const {page} = await (await visit({hash: `${gpt2}&view=graph`})).ready();
  const colourOf = (name) => page.locator("svg [role=treeitem]", {hasText: name}).first().locator("rect").nth(1).evaluate((rect) => getComputedStyle(rect).fill);
  assert.notEqual(await colourOf("h.* ×12"), await colourOf("wpe"));
  assert.equal(await page.locator(".graph-tools .legend .swatch").count(), 9);
}

export async function irene_10_a_list_of_all_parts_with_their_energy(visit, {assert}) {
  const {page} = await (await visit({hash: `${gpt2}&open=all&fold=&level=module&order=model&columns=energy`})).ready();
  const listed = await names(page);
  assert.ok(listed.includes("h.0") && listed.includes("attn"), listed.join());
  for (const joules of await page.locator(".grid-body [role=gridcell].number").allTextContents()) assert.match(joules, /^[\d.]+\u00a0[mµkn]?J$/);
}

export async function irene_11_what_this_is_is_told(visit, {assert}) {
  const {page} = await (await visit({hash: gpt2})).ready();
  await page.keyboard.press("?");
  const text = await page.textContent("dialog[open]");
  assert.ok(text.includes("joules") && text.includes("filter"), text);
  assert.ok(await page.locator("dialog[open] a[href*='openapi']").count());
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
}

export async function letters_and_digits_switch(visit, {assert}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  for (const [key, wanted] of [["2", "view=icicle"], ["3", "view=operations"], ["4", "view=treemap"], ["5", "view=graph"], ["o", "order=model"], ["l", "level=model"], ["f", "fold="]]) {
    await page.keyboard.press(key);
    await here.hashHas(wanted);
  }
  await page.keyboard.press("1");
  await page.keyboard.press("/");
  await page.keyboard.type("2");
  assert.equal(await page.getByLabel("Filter by name").inputValue(), "2");
}

export async function a_tree_of_20000_nodes_opens_at_once(visit, {assert}) {
  const here = await (await visit({hash: "#explore?model=meta-llama/Llama-3.1-405B&profile=mi300x&gpus=8&mode=generate&fold=&open=none"})).ready();
  const times = await here.page.evaluate(async () => {
    const rows = () => +document.querySelector("[role=treegrid]").getAttribute("aria-rowcount");
    document.querySelector('.menu button[aria-label="Open and close rows"]').click();
    await new Promise((done) => setTimeout(done, 50));
    const all = [...document.querySelectorAll(".panel button")].find((button) => button.textContent === "Open all");
    const since = performance.now();
    all.click();
    while (rows() < 1000) await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    return {ms: performance.now() - since, rows: rows()};
  });
  console.log(`      ${times.rows} rows in ${times.ms.toFixed(0)} ms`);
  assert.ok(times.rows > 10_000, String(times.rows));
  if (process.env.BERYL_STRICT) assert.ok(times.ms < 100, `${times.ms} ms`);
}
