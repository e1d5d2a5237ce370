// Sweep, leaderboard, live and suggestions.
const gpt2 = "model=gpt2&batch=8&seq=128&dtype=float32&attention=eager&profile=gtx1080ti-i9-7900x";
const query = "predict?model=gpt2&seq=128&dtype=float32&attention=eager&profile=gtx1080ti-i9-7900x";
const shown = (text) => text.replace(/\u00a0/g, " ");

export async function sweep_one_thing_is_a_curve_and_a_table(visit, {ask, assert}) {
  const here = await visit({hash: `#sweep?${gpt2}&xs=1,2,4,8`});
  const {page} = here;
  await page.waitForSelector(".chart .curve");
  assert.equal(await page.locator(".chart circle").count(), 8, "four in each picture");
  const {rows} = await ask(`${query}&sweep=batch=1,2,4,8`);
  const cells = await page.locator("section[aria-labelledby=rows-h] tbody tr").evaluateAll((lines) => lines.map((line) => line.children[1].textContent));
  rows.forEach((row, i) => {
    const [number, unit] = shown(cells[i]).split(" ");
    const joules = parseFloat(number) * (unit === "mJ" ? 1e-3 : 1);
    assert.ok(Math.abs(joules - row.energy_j) < 0.006 * row.energy_j, `${cells[i]} ${row.energy_j}`);
  });
  await page.getByLabel("What is shown").selectOption("power_w");
  await here.hashHas("value=power_w");
  await here.axe("a curve");
  await here.picture("sweep-1400-light");
  await page.locator("section[aria-labelledby=rows-h] tbody button").nth(2).click();
  await here.hashHas("batch=4");
  assert.ok((await here.hash()).startsWith("#explore"));
}

export async function sweep_two_things_are_a_heat_map(visit, {assert}) {
  for (const [width, scheme] of [[1400, "light"], [1400, "dark"], [360, "light"]]) {
    const here = await visit({width, scheme, height: 900, hash: `#sweep?${gpt2}&y=seq&xs=1,2,4&ys=32,64,128`});
    const {page} = here;
    await page.waitForSelector("table.heat");
    assert.equal(await page.locator("table.heat button").count(), 9);
    await here.axe("a heat map");
    await here.noSidewaysScroll("a heat map");
    await here.picture(`heat-${width}-${scheme}`);
    await page.locator("table.heat button").nth(4).click();
    await here.hashHas("batch=2");
    await here.hashHas("seq=64");
    await here.end();
  }
}

export async function sweep_machines_are_bars_and_a_wrong_value_is_refused(visit, {assert}) {
  const here = await visit({hash: `#sweep?${gpt2}&x=profile`, allow: [/status of 4/]});
  const {page} = here;
  await page.waitForSelector(".bars");
  assert.ok((await page.locator(".bars li").count()) > 20);
  await here.axe("bars");
  await page.getByLabel("What is varied", {exact: true}).selectOption("n_layer");
  await page.waitForSelector(".chart .curve");
  await page.getByLabel("Values of n_layer").fill("3,x");
  await page.keyboard.press("Enter");
  const said = page.locator(".trouble, td.wrong").first();
  await said.waitFor();
  assert.ok((await said.textContent()).length > 20);
}

export async function what_is_kept_is_on_the_leaderboard(visit, {assert}) {
  const here = await (await visit({hash: `#explore?${gpt2}`})).ready();
  const {page} = here;
  await page.click("button:has-text('Keep')");
  await page.waitForSelector("button:has-text('Kept')");
  await page.goto(page.url().replace(/#.*/, "#leaderboard"));
  await page.waitForSelector("section table");
  assert.ok((await page.textContent("section table")).includes("gpt2"));
  await here.axe("the leaderboard");
  await here.picture("leaderboard-1400-light");
  await page.getByLabel("by").selectOption("energy_j");
  await here.hashHas("by=energy_j");
}

export async function live_shows_what_the_machine_draws(visit, {assert}) {
  const here = await visit({hash: "#live"});
  await here.ready();
  assert.match(await here.total(), /^[\d.?]+[mk]?W/);
  assert.ok(["measured", "estimated"].includes(await here.page.textContent(".badge")));
  await here.axe("live");
}

export async function suggestions_are_predictions_and_open_as_a_comparison(visit, {ask, assert}) {
  const here = await (await visit({hash: `#explore?${gpt2}`})).ready();
  const {page} = here;
  await page.waitForSelector(".savings li");
  const [now, then] = await Promise.all([ask(`${query}&batch=8&depth=0`), ask(`${query.replace("float32", "bfloat16")}&batch=8&depth=0`)]);
  const saving = 100 * (1 - then.energy_per_token_j / now.energy_per_token_j);
  const line = page.locator(".savings li", {hasText: "numbers in bfloat16"});
  assert.ok(shown(await line.textContent()).includes(`−${saving.toFixed(1)} %`), `${await line.textContent()} ${saving}`);
  await line.locator("button").click();
  await page.waitForSelector(".verdict");
  assert.ok((await page.textContent(".verdict")).includes("bfloat16 takes"));
}
