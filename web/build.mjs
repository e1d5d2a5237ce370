// Bundles the page: one HTML, one script, one style. The addresses of script and style carry the hash of their
// content, so that a browser may keep them for ever. usage: node build.mjs [FOLDER]
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {gzipSync} from "node:zlib";

const folder = process.argv[2] ?? "dist";
const {outputFiles} = await build({
  entryPoints: {page: "src/main.tsx"},
  bundle: true,
  minify: true,
  write: false,
  outdir: folder,
  format: "iife",
  target: ["es2021"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});

mkdirSync(folder, {recursive: true});
let page = readFileSync("src/index.html", "utf8");
const sizes = [];
function put(name, text) {
  writeFileSync(`${folder}/${name}`, text);
  sizes.push([name, Buffer.byteLength(text), gzipSync(text).length]);
}
for (const {path, text} of outputFiles) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  page = page.replace(`assets/${name}`, `assets/${hash}/${name}`);
  put(name, text);
}
put("index.html", page);
let sum = 0;
for (const [name, bytes, packed] of sizes) {
  console.log(`${name}: ${bytes} bytes, ${packed} gzipped`);
  sum += packed;
}
console.log(`all: ${sum} gzipped`);
