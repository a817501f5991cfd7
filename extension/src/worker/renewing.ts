import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import type { Doc, Docs } from './docs.ts';
import { type Doors, enter } from './doors.ts';

/** ArmMs is how long a document may take until its door waits for an adapter, in milliseconds. */
const ArmMs = 10_000;

export interface RenewingOptions {
  readonly docs: Docs;
  readonly doors: Doors;
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
  /** armed takes the word of a document that a door waits for who says nonce. */
  armed(documentId: string, nonce: string): void;
  /** synced takes the names of the plugins whose code is about to come. */
  synced(missing: readonly string[]): void;
  /**
   * expects tells whether a plugin that is live in a tab's top document with older code is about to get the new one. Such a
   * tab needs no reload, which would cost the author what is in the page.
   */
  expects(tabId: number, plugin: string): boolean;
}

/** makeRenewing returns a Renewing. */
export function makeRenewing(options: RenewingOptions): Renewing {
  /** due are the documents that are about to get new code, by the plugin. */
  const due = new Map<string, Set<Doc>>();
  /** takes tells whether new code of a plugin is put into documents: in a world of its own an adapter is found by the name of its script, which is another one now. */
  const takes = (plugin: PluginInfo | undefined) => plugin?.dev === true && plugin.world !== 'isolated';
  const older = (name: string, hash: string) =>
    options.docs
      .all()
      .flatMap(({ doc, plugins }) => (plugins.some((p) => p.name === name && p.hash !== hash) ? [doc] : []));
  /** arming are the documents whose doors are being armed, by their id and the nonce. */
  const arming = new Map<string, () => void>();
  const arm = (doc: Doc, { name, hash }: PluginCodeParams, nonce: string) =>
    new Promise<void>((resolve, reject) => {
      const key = `${doc.documentId} ${nonce}`;
      const late = setTimeout(() => {
        arming.delete(key);
        reject(new Error('its host does not take one; reload the tab'));
      }, ArmMs);
      arming.set(key, () => {
        clearTimeout(late);
        arming.delete(key);
        resolve();
      });
      doc.post({ op: 'renew', plugin: name, hash, nonce });
    });
  const renew = async (doc: Doc, params: PluginCodeParams, adapter: string) => {
    const nonce = options.nonce();
    await arm(doc, params, nonce);
    const code = enter(await options.doors.nameOf(params.name), nonce, params.hash, adapter);
    if ((await options.run(doc.tabId, doc.documentId, code)) !== true) throw new Error('its door is not there');
  };
  return {
    code: async (params) => {
      const { name, hash, hot } = params;
      if (!hot || !takes(options.plugin(name))) return;
      const each = older(name, hash).map((doc) =>
        renew(doc, params, hot.adapter)
          .catch((error: unknown) => {
            console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${String(error)}`);
          })
          .finally(() => due.get(name)?.delete(doc)),
      );
      await Promise.all(each);
    },
    armed: (documentId, nonce) => arming.get(`${documentId} ${nonce}`)?.(),
    synced: (missing) => {
      due.clear();
      for (const name of missing) {
        const plugin = options.plugin(name);
        if (plugin && takes(plugin)) due.set(name, new Set(older(name, plugin.hash)));
      }
    },
    expects: (tabId, plugin) => {
      const live = options.docs.live(tabId);
      return live !== undefined && due.get(plugin)?.has(live.doc) === true;
    },
  };
}
