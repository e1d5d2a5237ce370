// How it looks, for axe and for people: every view in three widths, light and dark. The pictures are for looking at.
const explore = "explore?model=bert-base-uncased&batch=8&seq=128&profile=gtx1080ti-i9-7900x&dtype=float32&attention=eager";
const views = {
  tree: `#${explore}`,
  icicle: `#${explore}&view=icicle`,
  operations: `#${explore}&view=operations`,
  sandwich: `#${explore}&view=operations&name=addmm`,
  treemap: `#${explore}&view=treemap`,
  graph: `#${explore}&view=graph`,
  training: "#explore?model=gpt2&mode=train&profile=a100-80gb-sxm&colour=phase",
};

async function look(visit, width, height, scheme, contrast) {
  for (const [name, hash] of Object.entries(views)) {
    const here = await (await visit({width, height, scheme, hash, contrast})).ready();
    await here.settled();
    await here.page.waitForTimeout(60);
    await here.axe(name);
    await here.noSidewaysScroll(name);
    await here.picture(`${name}-${width}-${scheme}${contrast ? "-contrast" : ""}`);
    await here.end();
  }
}

export const looks_right_at_1400_px = (visit) => look(visit, 1400, 900, "light");
export const looks_right_at_1400_px_in_the_dark = (visit) => look(visit, 1400, 900, "dark");
export const looks_right_at_768_px = (visit) => look(visit, 768, 1024, "light");
export const looks_right_at_360_px = (visit) => look(visit, 360, 740, "light");
export const looks_right_at_360_px_in_the_dark = (visit) => look(visit, 360, 740, "dark");
export const looks_right_with_more_contrast = (visit) => look(visit, 1400, 900, "light", "more");
