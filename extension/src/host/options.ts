import { isObject, lookup, makeBareObject, parseJson } from './primordials.ts';

/** HostOptions are the values that the server writes into the script of a plugin (internal/jsbuild/extension.go). */
export interface HostOptions {
  /**
   * The field `plugin` is the name of the plugin; empty for the base host, which creates hosts for plugins whose code
   * arrives later (host.ts:startBaseHost).
   */
  readonly plugin: string;
  readonly hash: string;
  /** The field `settings` is a wire.PluginSettings with the values of the plugin's settings. */
  readonly settings: unknown;
  /** startsAfterParsing is true if the adapter starts only after the document is parsed. */
  readonly startsAfterParsing: boolean;
  /** runsInFrames is true if the adapter also runs in same-origin frames. */
  readonly runsInFrames: boolean;
  /**
   * The field `base` is a string that identifies those parts of the plugin that a hot reload cannot replace in this
   * document.
   */
  readonly base: string;
  /**
   * hostOfferEventType is the type of the event in which the bridge expects the offer of a host that starts late. For a
   * host that starts at document_start, hostOfferEventType is empty.
   */
  readonly hostOfferEventType: string;
}

export function readOptions(json: string): HostOptions {
  const parsedOptions: unknown = parseJson(json);
  const optionFields = isObject(parsedOptions) ? parsedOptions : makeBareObject();
  const textField = (key: string): string => {
    const value = lookup(optionFields, key);
    return typeof value === 'string' ? value : '';
  };
  return {
    plugin: textField('name'),
    hash: textField('hash'),
    settings: lookup(optionFields, 'settings'),
    startsAfterParsing: textField('start') === 'dom',
    runsInFrames: lookup(optionFields, 'frames') === true,
    base: textField('base'),
    hostOfferEventType: textField('meet'),
  };
}
