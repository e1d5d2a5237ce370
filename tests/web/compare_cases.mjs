// Compare: what differs, where, and the sentence that says it.
const llama = "model=gpt2&batch=8&seq=128&dtype=float32&attention=eager&profile=gtx1080ti-i9-7900x";
const hashOf = (...sides) => `#compare?sides=${sides.map(encodeURIComponent).join("~")}`;

export async function compare_two_batches_says_how_much_and_where(visit, {ask, assert}) {
  const here = await visit({hash: hashOf(llama, llama.replace("batch=8", "batch=16"))});
  const {page} = here;
  await page.waitForSelector(".verdict");
  const [a, b] = await Promise.all([8, 16].map((batch) => ask(`predict?model=gpt2&batch=${batch}&seq=128&dtype=float32&attention=eager&profile=gtx1080ti-i9-7900x&depth=0`)));
  const more = 100 * (b.energy_j / a.energy_j - 1);
  const verdict = await page.textContent(".verdict");
  assert.ok(verdict.includes("batch 16 takes") && verdict.includes("more than batch 8"), verdict);
  assert.ok(verdict.replace(/\u00a0/g, " ").includes(`${more.toFixed(more >= 100 ? 0 : 1)} %`), `${verdict} ${more}`);
  const head = await page.textContent(".grid-row.head");
  for (const part of ["batch 8", "batch 16", "difference", "change"]) assert.ok(head.includes(part), head);
  await page.click("text=share");
  await here.hashHas("share=1");
  assert.ok((await page.textContent(".grid-body")).includes("pp"));
  for (const view of ["Icicle", "Treemap", "Graph", "Operations"]) {
    await page.click(`.switch >> text=${view}`);
    await here.settled();
    await here.axe(`compare ${view}`);
  }
}

export async function compare_begins_in_explore_and_grows(visit, {assert}) {
  const here = await (await visit({hash: `#explore?${llama}`})).ready();
  const {page} = here;
  await page.keyboard.press("c");
  await page.waitForFunction(() => location.hash.startsWith("#compare"));
  await page.getByLabel("other numbers").selectOption("int8");
  await page.waitForSelector(".verdict");
  assert.equal(await page.locator("table.sides tbody tr").count(), 2);
  await page.getByLabel("another machine").selectOption("rtx-4090");
  await page.waitForFunction(() => document.querySelectorAll("table.sides tbody tr").length === 3);
  assert.ok((await page.textContent(".verdict")).includes("takes least"));
  await page.locator("table.sides tbody tr").nth(2).locator("text=First").click();
  await page.waitForFunction(() => document.querySelector("table.sides tbody tr").textContent.includes("4090"));
  await page.locator("table.sides tbody tr").nth(0).locator("button:has-text('×')").click();
  await page.waitForFunction(() => document.querySelectorAll("table.sides tbody tr").length === 2);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("table.sides tbody tr").length === 3);
  await here.picture("compare-1400-light");
}

export async function compare_marks_what_is_on_one_side_only(visit, {assert}) {
  const here = await visit({hash: hashOf(llama, llama.replace("attention=eager", "attention=sdpa")) + "&open=all"});
  const {page} = here;
  await page.waitForSelector(".verdict");
  const notes = await page.locator(".bar.change").evaluateAll((bars) => bars.map((bar) => bar.title));
  assert.ok(notes.includes("only sdpa") && notes.includes("only eager"), notes.join());
  assert.ok(notes.includes("no more than noise"));
}

export async function compare_runs_has_the_verdict_of_the_program(visit, {ask, assert, base, root}) {
  const {readFileSync} = await import("node:fs");
  const ids = [];
  for (const step of [0, 1, 2]) {
    const form = new FormData();
    const folder = `${root}/tests/golden/compare-two-runs`;
    form.append("ops", new Blob([readFileSync(`${folder}/before-step${step}.json`)]), "ops.json");
    form.append("power", new Blob([readFileSync(`${folder}/before-power.csv`)]), "power.csv");
    form.append("name", `step ${step}`);
    const answer = await (await fetch(`${base}api/v1/runs`, {method: "POST", body: form})).json();
    ids.push(answer.entries[0].id);
  }
  const here = await visit({hash: hashOf(...ids.map((id) => `run:${id}`))});
  await here.page.waitForSelector(".verdict");
  const server = await ask(`compare?${ids.map((id) => `of=${id}`).join("&")}`);
  assert.equal(await here.page.textContent(".verdict"), server.verdicts.map(({says}) => says).join(" "));
  assert.ok((await here.page.textContent(".grid-row.head")).includes("step 1"));
}

export async function compare_a_run_with_a_prediction(visit, {assert, base, root}) {
  const {readFileSync} = await import("node:fs");
  const form = new FormData();
  form.append("ops", new Blob([readFileSync(`${root}/tests/data/pytorch/tiny_bert_step.json.gz`)]), "tiny_bert_step.json.gz");
  form.append("power", new Blob([readFileSync(`${root}/tests/data/pytorch/flat_30w.csv`)]), "flat_30w.csv");
  const {entries} = await (await fetch(`${base}api/v1/runs`, {method: "POST", body: form})).json();
  const here = await visit({hash: hashOf(`run:${entries[0].id}`, "model=bert-base-uncased&batch=2&seq=6&dtype=float32&attention=sdpa&profile=gtx1080ti-i9-7900x")});
  await here.page.waitForSelector(".verdict");
  await here.page.waitForSelector(".treegrid");
  const badges = await here.page.locator(".badge").allTextContents();
  assert.ok(badges.includes("measured") && badges.includes("predicted"), badges.join());
}

export async function compare_nothing_offers_a_start(visit, {assert}) {
  for (const [width, scheme] of [[1400, "light"], [360, "dark"]]) {
    const here = await visit({width, height: 800, scheme, hash: "#compare"});
    await here.page.waitForSelector(".empty");
    await here.axe("nothing to compare");
    await here.page.click("text=on four machines");
    await here.page.waitForSelector(".verdict");
    assert.equal(await here.page.locator("table.sides tbody tr").count(), 4);
    await here.axe("four machines");
    await here.noSidewaysScroll("compare");
    await here.picture(`compare-four-${width}-${scheme}`);
    await here.end();
  }
}
