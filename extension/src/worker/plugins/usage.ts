import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';

/**
 * MaxPreregistered and MaxPreregisteredChars limit the number and total length (UTF-16 units) of preregistered
 * adapters.
 */
const MaxPreregistered = 16;
const MaxPreregisteredChars = 8 * 1024 * 1024;
/** MaxUsed limits the stored recently used plugins. */
const MaxUsed = 64;
/** WriteMs is how long uses are collected before they are stored, in milliseconds. */
const WriteMs = 5000;

export interface UsageOptions {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/** Usage tracks which plugins were used recently. The stored usage survives a restart of the browser. */
export class Usage {
  /** changed reports, after a delay, that the list of used plugins has changed. */
  readonly changed = new Signal();
  readonly #write: UsageOptions['write'];
  readonly #names: Promise<string[]>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ read, write }: UsageOptions) {
    this.#write = write;
    this.#names = read()
      .catch(() => undefined)
      .then((text) => (text === undefined || text === '' ? [] : text.split(' ')));
  }

  /** readNames returns the recently used plugins, newest first. */
  readNames(): Promise<readonly string[]> {
    return this.#names;
  }

  /** recordUse records that a plugin was used. */
  async recordUse(plugin: string): Promise<void> {
    const names = await this.#names;
    const at = names.indexOf(plugin);
    if (at === 0) return;
    if (at > 0) names.splice(at, 1);
    names.unshift(plugin);
    names.splice(MaxUsed);
    this.#timer ??= setTimeout(() => void this.#keep().catch(() => undefined), WriteMs);
  }

  async #keep(): Promise<void> {
    this.#timer = undefined;
    await this.#write((await this.#names).join(' '));
    this.changed.emit();
  }
}

/**
 * sortForPreregistration returns the plugins whose adapters are worth registering before a page needs them, best first:
 * plugins that must start before the page's scripts, then recently used plugins. If there are few plugins,
 * sortForPreregistration returns all plugins.
 */
export function sortForPreregistration(plugins: readonly PluginInfo[], used: readonly string[]): readonly PluginInfo[] {
  const place = ({ name, early }: PluginInfo) => {
    const at = used.indexOf(name);
    return (early === true ? 0 : MaxUsed + 1) + (at < 0 ? MaxUsed : at);
  };
  const sorted = [...plugins].sort((a, b) => place(a) - place(b));
  return plugins.length <= MaxPreregistered ? sorted : sorted.filter((p) => p.early === true || used.includes(p.name));
}

/**
 * withinBudget returns the first plugins that are within the budget. The parameter size returns the length of a
 * plugin's code.
 */
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
