import { bare, isObject, lookup, parseJson } from './primordials.ts';

/** Options are what the server writes into a plugin's script (internal/jsbuild/extension.go). */
export interface Options {
  /** plugin is empty for a host that serves the plugins which come later (base.ts). */
  readonly plugin: string;
  readonly hash: string;
  /** settings are a wire.PluginSettings. */
  readonly settings: unknown;
  /** late tells that the adapter starts when the document is parsed, not before the page's first script. */
  readonly late: boolean;
  /** frames tells that the adapter runs in frames of the page's own origin too. */
  readonly frames: boolean;
  /** base names what a new adapter can't change in this document. */
  readonly base: string;
  /** meet is the type of the event in which the bridge waits for a host that starts late; empty for one at document_start. */
  readonly meet: string;
}

/** readOptions reads the JSON text of a script's options. */
export function readOptions(text: string): Options {
  const given: unknown = parseJson(text);
  const from = isObject(given) ? given : bare();
  const words = (key: string): string => {
    const value = lookup(from, key);
    return typeof value === 'string' ? value : '';
  };
  return {
    plugin: words('name'),
    hash: words('hash'),
    settings: lookup(from, 'settings'),
    late: words('start') === 'dom',
    frames: lookup(from, 'frames') === true,
    base: words('base'),
    meet: words('meet'),
  };
}
