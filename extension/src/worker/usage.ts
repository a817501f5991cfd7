import type { PluginInfo } from '../../../wire/wire.gen.ts';

/** MaxAhead and MaxAheadChars are how many adapters are registered ahead, and how long they may be together, in UTF-16 units. */
export const MaxAhead = 16;
export const MaxAheadChars = 8 * 1024 * 1024;
/** MaxUsed is how many plugins are kept as used lately. */
const MaxUsed = 64;
/** WriteMs is how long uses are gathered before they are kept, in milliseconds. */
const WriteMs = 5000;

/** Usage knows which plugins were used lately; it outlives the browser. */
export interface Usage {
  /** names are the plugins, the one that was used last first. */
  names(): Promise<readonly string[]>;
  /** used notes a use. */
  used(plugin: string): void;
}

export interface UsageOptions {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  /** changed is called some time after another plugin was used. */
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
 * aheadOf returns the plugins whose adapters are worth registering ahead, best first: those that have to start before the
 * page's first script, then those used last. All of them, if there are few.
 */
export function aheadOf(plugins: readonly PluginInfo[], used: readonly string[]): readonly PluginInfo[] {
  const place = ({ name, early }: PluginInfo) => {
    const at = used.indexOf(name);
    return (early === true ? 0 : MaxUsed + 1) + (at < 0 ? MaxUsed : at);
  };
  const sorted = [...plugins].sort((a, b) => place(a) - place(b));
  return plugins.length <= MaxAhead ? sorted : sorted.filter((p) => p.early === true || used.includes(p.name));
}

/** fitting returns the first of these that are within the budget; size returns the length of one's code. */
export async function fitting(
  plugins: readonly PluginInfo[],
  size: (plugin: PluginInfo) => Promise<number>,
): Promise<PluginInfo[]> {
  const chosen: PluginInfo[] = [];
  let chars = 0;
  for (const plugin of plugins) {
    const more = await size(plugin);
    if (chars + more > MaxAheadChars) continue;
    chars += more;
    chosen.push(plugin);
    if (chosen.length === MaxAhead) break;
  }
  return chosen;
}
