// Runs: added through the page, opened, measured beside predicted; and names that mean harm.
import {readFileSync} from "node:fs";

const add = async (here, files) => {
  await here.page.setInputFiles("input[type=file]", files);
  await here.page.waitForFunction(() => /run=/.test(location.hash));
  return (await here.hash()).match(/run=(\w+)/)[1];
};
const demo = (root) => [`${root}/data/demo_ops.json.gz`, `${root}/data/demo_power.csv.gz`];

export async function a_trace_and_its_power_become_a_measured_tree(visit, {ask, assert, root}) {
  const here = await visit({hash: "#runs"});
  const {page} = here;
  const id = await add(here, demo(root));
  await here.ready();
  const account = await ask(`runs/${id}/account?top=0`);
  const total = account.closure.reduce((sum, books) => sum + books.total_j, 0);
  assert.ok((await here.total()).startsWith(total.toPrecision(3)), await here.total());
  assert.equal(await page.textContent(".badge"), "measured");
  assert.ok((await page.textContent(".law")).startsWith("The parts sum to what was measured"));
  assert.ok(!(await page.locator(".law.broken").count()));
  assert.ok((await page.textContent(".treegrid")).includes("BertForSequenceClassification_0"));
  await page.waitForSelector(".uplot canvas");
  assert.ok((await page.textContent(".u-legend")).includes("GPU:0"));
  await page.getByLabel("Phase").selectOption("backward");
  const root_energy = (await page.textContent(".grid-body [role=gridcell].number")).replace(/\u00a0/g, " ");
  assert.ok(root_energy.startsWith(account.tree.phases.backward.toPrecision(3)), `${root_energy} ${account.tree.phases.backward}`);
}

export async function a_stretch_of_time_is_in_the_address(visit, {assert, root}) {
  const here = await visit({hash: "#runs", allow: [/status of 4/]});
  const {page} = here;
  await add(here, demo(root));
  await page.waitForSelector(".uplot canvas");
  const box = await page.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, {steps: 5});
  await page.mouse.up();
  await page.waitForFunction(() => /window=[\d.]+-[\d.]+/.test(location.hash));
  const [, from, to] = /window=([\d.]+)-([\d.]+)/.exec(await here.hash());
  assert.ok(+from > 0.03 && +from < 0.07 && +to > 0.12 && +to < 0.17, `${from} ${to}`);
  await page.click("text=The whole run");
  await page.waitForFunction(() => !location.hash.includes("window="));
  await page.getByLabel("step", {exact: true}).selectOption({index: 1});
  await here.hashHas("window=step:");
}

export async function a_recording_says_whose_energy_it_was(visit, {ask, assert, root}) {
  const here = await visit({hash: "#runs"});
  const id = await add(here, [`${root}/tests/data/recordings/training.beryl`]);
  await here.ready();
  const measured = await ask(`runs/${id}/measurement`);
  assert.ok((await here.total()).startsWith((measured.total.energy_j / 1000).toPrecision(3)));
  const text = await here.page.textContent("main");
  for (const part of ["ours", "other processes", "idle", "GPU:0", "python3", "Not complete: DRAM:1"]) assert.ok(text.includes(part), part);
  await here.axe("a recording");
  await here.picture("recording-1400-light");
}

export async function measured_stands_beside_predicted(visit, {assert, root}) {
  const here = await visit({hash: "#runs"});
  const {page} = here;
  const id = await add(here, [`${root}/tests/data/pytorch/tiny_bert_step.json.gz`, `${root}/tests/data/pytorch/flat_30w.csv`]);
  await here.ready();
  await page.getByLabel("model that ran").fill("bert-base-uncased");
  await page.keyboard.press("Enter");
  await here.hashHas("beside=bert-base-uncased");
  await page.getByLabel("predicted by").selectOption("gtx1080ti-i9-7900x");
  await here.hashHas("beside=bert-base-uncased@gtx1080ti-i9-7900x");
  await page.waitForFunction(() => document.querySelector(".grid-row.head").textContent.includes("predicted"));
  assert.ok((await page.textContent("main")).includes("Where measured and predicted part"));
  assert.ok(id);
}

export async function names_that_mean_harm_are_text(visit, {assert, root}) {
  const here = await visit({hash: "#runs"});
  const {page} = here;
  const evil = "</script><img id=evil src=x onerror=\"document.title='hacked'\">🔥\u202egnp";
  await add(here, [
    {name: `${evil}.json`, mimeType: "application/json", buffer: readFileSync(`${root}/tests/data/pytorch/hostile_names.json`)},
    {name: "power.csv", mimeType: "text/csv", buffer: readFileSync(`${root}/tests/data/power/hostile_names.csv`)},
  ]);
  await here.ready();
  for (const view of ["tree", "icicle", "operations", "treemap", "graph"]) {
    await page.evaluate((name) => {
      location.hash = `${location.hash.replace(/&view=\w+/, "")}&view=${name}`;
    }, view);
    await here.settled();
    await page.waitForTimeout(80);
    assert.equal(await page.locator("#evil, main img, main script, #page i[id]").count(), 0, view);
    assert.notEqual(await page.title(), "hacked");
    await here.noSidewaysScroll(view);
  }
  assert.ok((await page.textContent("main")).includes("<"));
}

export async function the_library_is_searched_and_a_run_removed(visit, {ask, assert, root}) {
  const here = await visit({hash: "#runs"});
  const {page} = here;
  const id = await add(here, [{name: "unique-name-xyz.beryl", mimeType: "application/octet-stream", buffer: readFileSync(`${root}/tests/data/recordings/machine.beryl`)}]);
  await here.ready();
  await page.click("text=all runs");
  await page.getByLabel("Search the runs").fill("unique-name-xyz");
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
  await here.hashHas("search=unique-name-xyz");
  await here.axe("the list of runs");
  await here.picture("runs-1400-light");
  page.on("dialog", (dialog) => dialog.accept());
  await page.click("button:has-text('Remove')");
  await page.waitForSelector(".empty");
  const left = await ask("runs");
  assert.ok(!left.entries.some((entry) => entry.id === id));
}

export async function what_cannot_be_read_is_refused_in_words(visit, {assert}) {
  const here = await visit({hash: "#runs", allow: [/status of 4/]});
  const {page} = here;
  await page.setInputFiles("input[type=file]", [{name: "trace.json", mimeType: "application/json", buffer: Buffer.from("{}")}]);
  await page.waitForSelector(".trouble");
  assert.ok((await page.textContent(".trouble")).includes("no power trace"));
  await page.setInputFiles("input[type=file]", [{name: "noise.bin", mimeType: "application/octet-stream", buffer: Buffer.from("noise")}]);
  await page.waitForFunction(() => !document.querySelector(".trouble")?.textContent.includes("no power trace") && document.querySelector(".trouble"));
}

export async function a_run_looks_right_on_a_narrow_screen(visit, {root}) {
  for (const [width, scheme] of [[360, "light"], [768, "dark"], [1400, "light"]]) {
    const here = await visit({width, height: 800, scheme, hash: "#runs"});
    await add(here, demo(root));
    await here.ready();
    await here.page.waitForSelector(".uplot canvas");
    await here.axe("a run");
    await here.noSidewaysScroll("a run");
    await here.picture(`run-${width}-${scheme}`);
    await here.end();
  }
}
