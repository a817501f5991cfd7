import type { PluginInfo } from '../../../wire/wire.gen.ts';

/**
 * MaxPreregistered and MaxPreregisteredChars limit the number and total length (UTF-16 units) of preregistered
 * adapters.
 */
export const MaxPreregistered = 16;
export const MaxPreregisteredChars = 8 * 1024 * 1024;
/** MaxUsed limits the stored recently used plugins. */
const MaxUsed = 64;
/** WriteMs is how long uses are collected before they are stored, in milliseconds. */
const WriteMs = 5000;

/** Usage tracks which plugins were used recently. It survives a restart of the browser. */
export interface Usage {
  /** names returns the recently used plugins, newest first. */
  names(): Promise<readonly string[]>;
  /** used notes a use. */
  used(plugin: string): void;
}

export interface UsageOptions {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  /** changed is called soon after the list of used plugins has changed. */
  changed(): void;
}

/** makeUsage returns a Usage. */
export function makeUsage({ read, write, changed }: UsageOptions): Usage {
  const loaded = read()
    .catch(() => undefined)
    .then((text) => (text === undefined || text === '' ? [] : text.split(' ')));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keep = async () => {
    timer = undefined;
    await write((await loaded).join(' '));
    changed();
  };
  return {
    names: () => loaded,
    used: (plugin) =>
      void loaded.then((names) => {
        const at = names.indexOf(plugin);
        if (at === 0) return;
        if (at > 0) names.splice(at, 1);
        names.unshift(plugin);
        names.splice(MaxUsed);
        if (timer === undefined) timer = setTimeout(() => void keep().catch(() => undefined), WriteMs);
      }),
  };
}

/**
 * sortForPreregistration returns the plugins whose adapters are worth registering before a page needs them, best first:
 * plugins that must start before the page's scripts, then recently used ones. If there are few plugins, it returns all.
 */
export function sortForPreregistration(plugins: readonly PluginInfo[], used: readonly string[]): readonly PluginInfo[] {
  const place = ({ name, early }: PluginInfo) => {
    const at = used.indexOf(name);
    return (early === true ? 0 : MaxUsed + 1) + (at < 0 ? MaxUsed : at);
  };
  const sorted = [...plugins].sort((a, b) => place(a) - place(b));
  return plugins.length <= MaxPreregistered ? sorted : sorted.filter((p) => p.early === true || used.includes(p.name));
}

/** withinBudget returns the first plugins that are within the budget. size returns the length of a plugin's code. */
export async function withinBudget(
  plugins: readonly PluginInfo[],
  size: (plugin: PluginInfo) => Promise<number>,
): Promise<PluginInfo[]> {
  const chosen: PluginInfo[] = [];
  let chars = 0;
  for (const plugin of plugins) {
    const more = await size(plugin);
    if (chars + more > MaxPreregisteredChars) continue;
    chars += more;
    chosen.push(plugin);
    if (chosen.length === MaxPreregistered) break;
  }
  return chosen;
}
