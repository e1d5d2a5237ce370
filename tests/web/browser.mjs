// Runs the cases of *_cases.mjs in Chromium. usage: node browser.mjs [FILTER]; the environment says where all is.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname} from "node:path";
import {fileURLToPath} from "node:url";

const {BERYL_PAGE: base, BERYL_CHROMIUM: executablePath, BERYL_TOOLS: tools, BERYL_PICTURES: pictures, BERYL_ROOT: root} = process.env;
const require = createRequire(`${tools}/`);
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const here = dirname(fileURLToPath(import.meta.url));
const patienceMs = 15_000;

const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"]});

// A page of its own, with what a case needs of it. What the browser complains about fails the case.
class Visit {
  static async start({width = 1400, height = 900, scheme = "light", hash = "", allow = [], contrast = "no-preference"} = {}) {
    const visit = new Visit();
    visit.context = await browser.newContext({viewport: {width, height}, colorScheme: scheme, contrast, reducedMotion: "reduce", acceptDownloads: true});
    visit.page = await visit.context.newPage();
    visit.page.setDefaultTimeout(patienceMs);
    visit.complaints = [];
    visit.page.on("console", (message) => {
      // A server without a table of regions is none to complain of.
      if (message.location().url.endsWith("/regions")) return;
      if (message.type() === "error" && !allow.some((pattern) => pattern.test(message.text()))) visit.complaints.push(message.text());
    });
    visit.page.on("pageerror", (error) => visit.complaints.push(error.stack));
    await visit.page.goto(base + hash);
    return visit;
  }
  async ready() {
    await this.page.waitForSelector("#total");
    return this;
  }
  // The next frame after all that is under way.
  async settled() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  total() {
    return this.page.textContent("#total");
  }
  hash() {
    return this.page.evaluate(() => decodeURIComponent(location.hash));
  }
  // The address follows a movement at a distance.
  async hashHas(text) {
    await this.page.waitForFunction((wanted) => decodeURIComponent(location.hash).includes(wanted), text);
  }
  async axe(name) {
    if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(axe);
    const found = await this.page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
    const list = found.violations.map(({id, help, nodes}) => `${id}: ${help}\n  ${nodes.slice(0, 3).map(({html, failureSummary}) => `${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`).join("\n  ")}`);
    assert.equal(list.length, 0, `${name}: ${list.join("\n")}`);
  }
  async noSidewaysScroll(name) {
    const [wide, shown] = await this.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= shown, `${name}: the page is ${wide} px wide in a window of ${shown}`);
  }
  picture(name) {
    return this.page.screenshot({path: `${pictures}/${name}.png`});
  }
  async end() {
    await this.context.close();
    assert.deepEqual(this.complaints, []);
  }
}

// What the API answers, to compare with.
export async function ask(path) {
  const response = await fetch(base + "api/v1/" + path);
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.json();
}

const cases = [];
const wanted = process.argv[2] ?? "";
for (const file of readdirSync(here).filter((name) => name.endsWith("_cases.mjs")).sort()) {
  const module = await import(`./${file}`);
  for (const [name, run] of Object.entries(module)) if (name.includes(wanted)) cases.push([name, run]);
}
let passed = 0;
let failed = 0;
for (const [name, run] of cases) {
  const visits = [];
  const visit = async (options) => {
    const started = await Visit.start(options);
    visits.push(started);
    return started;
  };
  const since = performance.now();
  let timer;
  try {
    await Promise.race([
      (async () => {
        await run(visit, {ask, assert, base, root});
        for (const one of visits.splice(0)) await one.end();
      })(),
      new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error("still running after 120 s")), 120_000);
      }),
    ]);
    ++passed;
    console.log(`pass  ${((performance.now() - since) / 1000).toFixed(2)} s  ${name.replace(/_/g, " ")}`);
  } catch (error) {
    ++failed;
    await visits[0]?.picture(`failed-${name}`).catch(() => undefined);
    console.log(`FAIL  ${name.replace(/_/g, " ")}\n    ${String(error.stack).slice(0, 3000).replace(/\n/g, "\n    ")}`);
    for (const one of visits) await one.context.close().catch(() => undefined);
  } finally {
    clearTimeout(timer);
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
