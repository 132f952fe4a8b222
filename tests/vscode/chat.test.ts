import { scene } from "./harness/scene.ts";

scene("the sidebar opens", {}, async ({ window }) => {
  await window.openCoppice();
  await window.screenshot("sidebar");
});
