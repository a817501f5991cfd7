import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import type { Doc, Docs } from './docs.ts';

/** PollMs is how often a door is tried, MaxTries how often at most: it opens when the bridge's word has come to the host. */
const PollMs = 50;
const MaxTries = 40;

export interface RenewingOptions {
  readonly docs: Docs;
  /** plugin returns the plugin of this name as the server wants it. */
  plugin(name: string): PluginInfo | undefined;
  /** run runs code in the page's own world of a document and returns its value. */
  run(tabId: number, documentId: string, code: string): Promise<unknown>;
  /** nonce returns a text that nobody can guess. */
  nonce(): string;
}

/** Renewing puts new adapters of plugins that are being developed into the documents in which an older one is live. */
export interface Renewing {
  /**
   * code takes what the server sent. Where the new adapter can't be put in, the document keeps the old one, and the tab
   * counts as one to be loaded anew.
   */
  code(params: PluginCodeParams): Promise<void>;
}

/** makeRenewing returns a Renewing. */
export function makeRenewing(options: RenewingOptions): Renewing {
  const renew = async (doc: Doc, { name, hash }: PluginCodeParams, door: string, adapter: string) => {
    const nonce = options.nonce();
    doc.post({ op: 'renew', plugin: name, hash, nonce });
    const code = `globalThis[${JSON.stringify(door)}]?.(${JSON.stringify(nonce)},${JSON.stringify(hash)},${adapter}\n)`;
    for (let tries = 0; tries < MaxTries; tries++) {
      if ((await options.run(doc.tabId, doc.documentId, code)) === true) return;
      await new Promise((resolve) => setTimeout(resolve, PollMs));
      if (options.docs.get(doc.documentId) !== doc) return;
    }
    throw new Error('its host does not take one; reload the tab');
  };
  return {
    code: async (params) => {
      const { name, hash, hot } = params;
      const plugin = options.plugin(name);
      // In a world of its own an adapter is found by the name of its script, which is another one now.
      if (!hot || plugin?.dev !== true || plugin.world === 'isolated') return;
      const old = options.docs.all().filter(({ plugins }) => plugins.some((p) => p.name === name && p.hash !== hash));
      const each = old.map(({ doc }) =>
        renew(doc, params, hot.door, hot.adapter).catch((error: unknown) => {
          console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${String(error)}`);
        }),
      );
      await Promise.all(each);
    },
  };
}
