import { bare, isObject, lookup, parseJson } from './primordials.ts';

/** Options are the values that the server writes into a plugin's script (internal/jsbuild/extension.go). */
export interface Options {
  /** plugin is empty for the base, the host of plugins whose code arrives later (host.ts:startBase). */
  readonly plugin: string;
  readonly hash: string;
  /** settings are a wire.PluginSettings. */
  readonly settings: unknown;
  /** late is true if the adapter starts after the document is parsed, not before the page's first script. */
  readonly late: boolean;
  /** frames is true if the adapter also runs in same-origin frames. */
  readonly frames: boolean;
  /** base identifies the parts of the plugin that a hot reload cannot change in this document. */
  readonly base: string;
  /** meet is the type of the event with which the bridge waits for a host that starts late; empty at document_start. */
  readonly meet: string;
}

/** readOptions parses the JSON text of a script's options. */
export function readOptions(json: string): Options {
  const given: unknown = parseJson(json);
  const from = isObject(given) ? given : bare();
  const text = (key: string): string => {
    const value = lookup(from, key);
    return typeof value === 'string' ? value : '';
  };
  return {
    plugin: text('name'),
    hash: text('hash'),
    settings: lookup(from, 'settings'),
    late: text('start') === 'dom',
    frames: lookup(from, 'frames') === true,
    base: text('base'),
    meet: text('meet'),
  };
}
