import {render} from "preact";
import {App} from "./pages/app";
import {followConfig, loadCatalog} from "./state/catalog";
import "uplot/dist/uPlot.min.css";
import "./page.css";

void loadCatalog();
followConfig();
render(<App />, document.getElementById("page")!);
