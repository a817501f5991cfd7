import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';

/**
 * MaxPreregisteredPlugins and MaxPreregisteredChars limit the number and the total size of adapters that are registered
 * in advance. MaxPreregisteredChars is in UTF-16 code units.
 */
const MaxPreregisteredPlugins = 16;
const MaxPreregisteredChars = 8 * 1024 * 1024;
const MaxUsedPlugins = 64;
const UsageWriteDelayMs = 5000;

export interface UsageOptions {
  readUsage(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/** PluginUsage stores the list of recently used plugins, so that the list survives a restart of the browser. */
export class PluginUsage {
  readonly changed = new Signal();
  readonly #writeUsage: UsageOptions['write'];
  readonly #pluginNames: Promise<string[]>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ readUsage, write: writeUsage }: UsageOptions) {
    this.#writeUsage = writeUsage;
    this.#pluginNames = readUsage()
      .catch(() => undefined)
      .then((text) => (text === undefined || text === '' ? [] : text.split(' ')));
  }

  readNames(): Promise<readonly string[]> {
    return this.#pluginNames;
  }

  /** recordPluginUse moves a plugin to the front of the list of recently used plugins. */
  async recordPluginUse(plugin: string): Promise<void> {
    const names = await this.#pluginNames;
    const index = names.indexOf(plugin);
    if (index === 0) return;
    if (index > 0) names.splice(index, 1);
    names.unshift(plugin);
    names.splice(MaxUsedPlugins);
    this.#timer ??= setTimeout(() => void this.#writePluginNames().catch(() => undefined), UsageWriteDelayMs);
  }

  async #writePluginNames(): Promise<void> {
    this.#timer = undefined;
    await this.#writeUsage((await this.#pluginNames).join(' '));
    this.changed.emit();
  }
}

/**
 * sortForPreregistration returns the plugins whose adapters should be registered in advance, in order of priority.
 * sortForPreregistration puts plugins that must start before the page's scripts first, followed by recently used
 * plugins.
 */
export function sortForPreregistration(
  plugins: readonly PluginInfo[],
  usedPlugins: readonly string[],
): readonly PluginInfo[] {
  const rankPlugin = ({ name, early }: PluginInfo) => {
    const index = usedPlugins.indexOf(name);
    return (early === true ? 0 : MaxUsedPlugins + 1) + (index < 0 ? MaxUsedPlugins : index);
  };
  const sorted = [...plugins].sort((a, b) => rankPlugin(a) - rankPlugin(b));
  return plugins.length <= MaxPreregisteredPlugins
    ? sorted
    : sorted.filter((p) => p.early === true || usedPlugins.includes(p.name));
}

/**
 * selectWithinBudget returns the first plugins whose code fits within MaxPreregisteredPlugins and
 * MaxPreregisteredChars.
 */
export async function selectWithinBudget(
  plugins: readonly PluginInfo[],
  codeLength: (plugin: PluginInfo) => Promise<number>,
): Promise<PluginInfo[]> {
  const selectedPlugins: PluginInfo[] = [];
  let totalChars = 0;
  for (const plugin of plugins) {
    const codeChars = await codeLength(plugin);
    if (totalChars + codeChars > MaxPreregisteredChars) continue;
    totalChars += codeChars;
    selectedPlugins.push(plugin);
    if (selectedPlugins.length === MaxPreregisteredPlugins) break;
  }
  return selectedPlugins;
}
