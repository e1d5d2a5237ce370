// Explore: what is asked for, and that the numbers are those of the API.
const gpt2 = "#explore?model=gpt2&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager&batch=8&seq=128";
const gpt2Query = "predict?model=gpt2&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager";

const digits = (value) => {
  const power = Math.floor(Math.log10(value) / 3);
  return `${(value / 1000 ** power).toPrecision(3)}`;
};

export async function a_llama_is_on_the_screen_at_once(visit, {ask, assert}) {
  const {page, total} = await (await visit({hash: ""})).ready();
  const answer = await ask("predict?model=meta-llama/Llama-3.1-8B&batch=1&dtype=bfloat16&attention=sdpa&profile=h100-sxm&columns=energy&depth=0");
  assert.ok((await page.textContent("#total")).startsWith(digits(answer.energy_j)), await total.call({page}));
  assert.equal(await page.textContent(".badge"), "uncalibrated");
  const facts = await page.textContent(".facts");
  for (const part of ["per token", "time", "power", "kWh", "USD", "CO₂e in US"]) assert.ok(facts.includes(part), `${part} is not in ${facts}`);
  assert.ok((await page.title()).includes("Llama"));
}

export async function a_calibrated_profile_gives_the_badge_predicted(visit, {assert}) {
  const {page} = await (await visit({hash: gpt2})).ready();
  assert.equal(await page.textContent(".badge"), "predicted");
}

export async function numbers_follow_the_slider(visit, {ask, assert}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  const slider = page.locator('input[type=range][aria-label="sequence"]');
  const before = await here.total();
  await slider.focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press("ArrowRight");
  const seq = await page.inputValue('label:has-text("sequence") + input');
  assert.ok(+seq > 128, seq);
  await here.hashHas(`seq=${seq}`);
  const answer = await ask(`${gpt2Query}&batch=8&seq=${seq}&columns=energy&depth=0`);
  await page.waitForFunction((wanted) => document.querySelector("#total").textContent.startsWith(wanted), digits(answer.energy_j));
  assert.notEqual(await here.total(), before);
}

export async function a_number_may_be_typed_and_a_wrong_one_is_refused_beside_it(visit, {ask, assert}) {
  const here = await (await visit({hash: gpt2, allow: [/status of 4/]})).ready();
  const {page} = here;
  const field = page.locator('label:has-text("batch") + input');
  await field.fill("5");
  const answer = await ask(`${gpt2Query}&batch=5&seq=128&columns=energy&depth=0`);
  await page.waitForFunction((wanted) => document.querySelector("#total").textContent.startsWith(wanted), digits(answer.energy_j));
  await page.locator('label:has-text("sequence") + input').fill("999999");
  await page.waitForSelector(".trouble");
  assert.ok((await page.textContent(".trouble")).includes("999999") || (await page.textContent(".trouble")).length > 30);
  assert.ok(await page.locator(".headline.old").count(), "what stands below is of the question before");
  await page.locator('label:has-text("sequence") + input').fill("64");
  await page.waitForSelector(".trouble", {state: "detached"});
}

export async function a_model_is_found_by_parts_of_its_name(visit, {assert}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  const box = page.getByRole("combobox", {name: "Model"});
  await box.click();
  await box.fill("bert uncased L-4 512");
  assert.equal(await page.locator("[role=listbox]:not([hidden]) [role=option]").count(), 1);
  await page.keyboard.press("Enter");
  await here.hashHas("model=google/bert_uncased_L-4_H-512_A-8");
  await page.waitForFunction(() => document.querySelector(".what").textContent.includes("L-4_H-512"));
  await box.click();
  await box.fill("no such model");
  assert.ok((await page.textContent("[role=listbox]:not([hidden])")).includes("nothing of that name"));
  await page.keyboard.press("Escape");
  assert.equal(await box.inputValue(), "google/bert_uncased_L-4_H-512_A-8");
}

export async function the_configuration_has_live_controls(visit, {ask, assert}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  await page.click("summary");
  await page.locator(".group label:text-is('layers') + input").fill("6");
  const answer = await ask(`${gpt2Query}&batch=8&seq=128&set=n_layer:6&columns=energy&depth=0`);
  await page.waitForFunction((wanted) => document.querySelector("#total").textContent.startsWith(wanted), digits(answer.energy_j));
  await here.hashHas("set=n_layer:6");
  await page.getByLabel("activation").selectOption("relu");
  await here.hashHas("activation_function:relu");
  assert.equal(await page.textContent("summary b"), "2 changed");
  await page.click("text=As the model is");
  await page.waitForFunction(() => !location.hash.includes("set="));
}

export async function a_config_json_can_be_opened(visit, {assert, root}) {
  const here = await (await visit({hash: gpt2})).ready();
  const {page} = here;
  await page.setInputFiles("input[type=file]", `${root}/tests/data/models/tiny-bert.json`);
  await page.waitForFunction(() => document.querySelector(".what").textContent.startsWith("config.json"));
  await here.hashHas('"model_type":"bert"');
  const total = await here.total();
  await page.reload();
  await here.ready();
  assert.equal(await here.total(), total);
}

export async function a_file_that_is_no_config_is_refused_in_words(visit, {assert}) {
  const here = await (await visit({hash: gpt2, allow: [/status of 4/]})).ready();
  const {page} = here;
  await page.setInputFiles("input[type=file]", {name: "x.json", mimeType: "application/json", buffer: Buffer.from("{\"model_type\": </script><img src=x onerror=alert(1)>")});
  await page.waitForSelector(".trouble");
  assert.ok((await page.textContent(".controls")).includes("not JSON"));
  assert.equal(await page.locator("img").count(), 0);
}

export async function generation_and_training_have_their_phases(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}`})).ready();
  const {page} = here;
  await page.click("text=generate");
  await page.waitForFunction(() => document.querySelector(".facts").textContent.includes("per generated token"));
  const phase = page.getByLabel("Phase");
  const whole = await page.textContent(".grid-body .number");
  await phase.selectOption("decode");
  await here.hashHas("phase=decode");
  await page.waitForFunction((before) => document.querySelector(".grid-body .number").textContent !== before, whole);
  await page.click("text=train");
  await page.waitForFunction(() => document.querySelector(".what").textContent.includes("a step of training"));
  await page.getByLabel("optimizer").selectOption("sgd");
  await here.hashHas("optimizer=sgd");
  assert.deepEqual(await phase.locator("option").allTextContents(), ["all phases", "forward", "backward", "optimizer"]);
}

export async function the_address_says_everything_and_back_goes_back(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&view=icicle&level=ml&order=model&column=flops&colour=share&filter=show:attn`})).ready();
  const {page} = here;
  await page.waitForSelector(".picture canvas");
  assert.equal(await page.getByLabel("Level").inputValue(), "ml");
  assert.equal(await page.getByLabel("Order").inputValue(), "model");
  assert.equal(await page.getByLabel("Colours").inputValue(), "share");
  await page.click("text=Treemap");
  await here.hashHas("view=treemap");
  await page.goBack();
  await here.hashHas("view=icicle");
  await page.goForward();
  await here.hashHas("view=treemap");
}

export async function the_link_and_the_command_give_the_same(visit, {assert}) {
  const here = await (await visit({hash: `${gpt2}&set=n_layer:3`})).ready();
  const {page} = here;
  await page.click("button:has-text('Share')");
  const command = await page.textContent(".command");
  assert.equal(command, "beryl predict gpt2 --set n_layer=3 --batch 8 --seq 128 --dtype float32 --attention eager --profile gtx1080ti-i9-7900x --region US");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=CSV, every part")]);
  assert.equal(download.suggestedFilename(), "prediction.csv");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".panel:not([hidden])").count(), 0);
}

export async function a_server_that_is_gone_is_said(visit, {assert}) {
  const here = await (await visit({hash: gpt2, allow: [/ERR_/, /Failed to load/]})).ready();
  await here.context.setOffline(true);
  await here.page.locator('label:has-text("batch") + input').fill("3");
  await here.page.waitForSelector(".trouble");
  assert.ok((await here.page.textContent(".trouble")).includes("cannot be reached"));
  await here.context.setOffline(false);
  await here.page.click("text=Ask again");
  await here.page.waitForSelector(".trouble", {state: "detached"});
}

export async function a_model_that_is_not_there_is_said(visit, {assert}) {
  const {page} = await visit({hash: "#explore?model=gpt3", allow: [/status of 4/]});
  await page.waitForSelector(".trouble");
  assert.ok((await page.textContent(".trouble")).includes("gpt3"));
}

export async function a_move_of_a_slider_shows_new_numbers(visit, {assert}) {
  for (const [name, hash] of [["bert-base", "#explore?model=bert-base-uncased&seq=128&batch=8"], ["Llama-3-70B", "#explore?model=meta-llama/Meta-Llama-3-70B&profile=h200-sxm"]]) {
    const here = await (await visit({hash})).ready();
    const times = await here.page.evaluate(async () => {
      const slider = document.querySelector('input[type=range][aria-label="sequence"]');
      const total = document.querySelector("#total");
      const times = [];
      for (let i = 0; i < 40; ++i) {
        slider.value = String(20 + (i % 12));
        const before = total.textContent;
        const since = performance.now();
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        while (total.textContent === before) {
          await new Promise((done) => setTimeout(done, 1));
          if (performance.now() - since > 2000) throw new Error("the numbers do not follow");
        }
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
        times.push(performance.now() - since);
        await new Promise((done) => setTimeout(done, 20));
      }
      return times.sort((a, b) => a - b);
    });
    const p95 = times[Math.floor(times.length * 0.95)];
    console.log(`      ${name}: median ${times[20].toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
    // Others are at work on the machine of the tests; what is promised is 50 ms.
    if (process.env.BERYL_STRICT) assert.ok(p95 < 50, `${name}: ${p95} ms`);
  }
}

export async function the_first_view_comes_on_a_slow_processor(visit, {assert}) {
  const here = await visit({hash: "about:blank".slice(11)});
  await here.ready();
  const client = await here.context.newCDPSession(here.page);
  await client.send("Emulation.setCPUThrottlingRate", {rate: 4});
  await client.send("Network.clearBrowserCache");
  await here.page.reload();
  await here.page.waitForSelector("#total");
  const [ms, bytes] = await here.page.evaluate(() => [performance.now(), performance.getEntriesByType("resource").reduce((sum, entry) => sum + entry.transferSize, 0)]);
  console.log(`      first numbers after ${ms.toFixed(0)} ms, ${bytes} bytes transferred with the data`);
  if (process.env.BERYL_STRICT) assert.ok(ms < 1500, `${ms} ms`);
}
