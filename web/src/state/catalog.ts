// What does not change while the page is open: models, machines and where electricity comes from. Asked for once.
import {computed, effect, signal} from "@preact/signals";
import {ApiError, ask} from "../api/client";
import type {Electricity, ModelEntry, ProfileEntry} from "../api/types";
import {field} from "./url";

export const models = signal<ModelEntry[]>([]);
export const profiles = signal<ProfileEntry[]>([]);
export const regions = signal<Electricity[]>([]);
export const catalogError = signal<ApiError | null>(null);
export const config = signal<Record<string, unknown>>({});

export async function loadCatalog() {
  try {
    const [allModels, allProfiles] = await Promise.all([
      ask<{models: ModelEntry[]}>("models"), ask<{profiles: ProfileEntry[]}>("profiles"),
    ]);
    models.value = allModels.models;
    profiles.value = allProfiles.profiles;
    catalogError.value = null;
  } catch (error) {
    catalogError.value = error as ApiError;
    return;
  }
  try {
    regions.value = (await ask<{regions: Electricity[]}>("regions")).regions;
  } catch {
    // An older server: the region can still be named.
  }
}

// The configuration of the model that is asked for, to be edited.
const model = field("model");
const dropped = field("config");
export const configError = signal("");
export function followConfig() {
  let asked = "";
  effect(() => {
    const text = dropped.value;
    const name = model.value;
    asked = name;
    if (text) {
      try {
        config.value = JSON.parse(text);
        configError.value = "";
      } catch (error) {
        config.value = {};
        configError.value = `The file is not JSON: ${(error as Error).message}`;
      }
      return;
    }
    configError.value = "";
    ask<Record<string, unknown>>(`models/${name.split("/").map(encodeURIComponent).join("/")}`).then((found) => {
      if (asked === name) config.value = found;
    }).catch(() => {
      if (asked === name) config.value = {};
    });
  });
}

export const profileOf = computed(() => (name: string) => profiles.value.find((profile) => profile.name === name || profile.aliases.includes(name)));
