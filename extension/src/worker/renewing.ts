import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';
import type { Doc, Docs } from './docs.ts';
import { BASE, type Doors, enter } from './doors.ts';

/** ReplyMs is how long a document may take beyond its calls until its door is open, in milliseconds. */
const ReplyMs = 5000;
/** KeptMs is how long new code is kept for documents that name their older adapter late, in milliseconds. */
const KeptMs = 10_000;
/** CodeMs is how long the code may take after a sync, in milliseconds. */
const CodeMs = 30_000;

export interface RenewingOptions {
  readonly docs: Docs;
  readonly doors: Doors;
  /** plugin returns the plugin of this name as the server wants it. */
  plugin(name: string): PluginInfo | undefined;
  /** run runs code in the world of a plugin in a document and returns its value. */
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** nonce returns a text that nobody can guess. */
  nonce(): string;
  /** changed is called when a document is not about to get new code any more. */
  changed(): void;
}

/** Renewing replaces the adapters of plugins in documents that have an older one, or had one that was removed. */
export interface Renewing {
  /**
   * code takes what the server sent. Where the new adapter can't be put in, the document keeps the old one, and the tab
   * counts as one that needs a reload.
   */
  code(params: PluginCodeParams): Promise<void>;
  /** named notes that a document has named its adapters. */
  named(doc: Doc): void;
  /** said takes what a document said of a replacement. */
  said(doc: Doc, message: Extract<FromBridge, { op: 'armed' | 'renewed' }>): void;
  /** lacking returns the names of the plugins that have documents with an older adapter which can be replaced. */
  lacking(): string[];
  /** synced takes the names of the plugins whose code is about to come. */
  synced(missing: readonly string[]): void;
  /** expects reports whether a tab's top document is about to get the new code of a plugin: then it needs no reload. */
  expects(tabId: number, plugin: string): boolean;
}

/** Swap is a replacement that a document was asked to prepare for. */
interface Swap {
  readonly params: PluginCodeParams;
  readonly nonce: string;
  timer: ReturnType<typeof setTimeout>;
}

/** makeRenewing returns a Renewing. */
export function makeRenewing(options: RenewingOptions): Renewing {
  /** due are the documents that are about to get new code, by the plugin. */
  const due = new Map<string, Set<Doc>>();
  const swaps = new WeakMap<Doc, Map<string, Swap>>();
  /** refused are the hashes of adapters that did not start in a document, by the plugin. */
  const refused = new WeakMap<Doc, Map<string, string>>();
  const kept = new Map<string, PluginCodeParams>();

  /** needs reports whether a document has an older adapter of a plugin, or none, and can get the new one. */
  const needs = (doc: Doc, { name, hash, base }: PluginInfo) => {
    if (refused.get(doc)?.get(name) === hash) return false;
    const told = options.docs.told(doc.documentId);
    const older = told?.plugins.some((p) => p.name === name && p.hash !== hash && p.base === base);
    return older === true || options.docs.vacant(doc.documentId).some((p) => p.name === name && p.base === base);
  };
  const older = (plugin: PluginInfo) => options.docs.all().flatMap(({ doc }) => (needs(doc, plugin) ? [doc] : []));
  const over = (doc: Doc, name: string, why?: string) => {
    const swap = swaps.get(doc)?.get(name);
    if (why !== undefined && swap) {
      console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${why}`);
      refused.set(doc, (refused.get(doc) ?? new Map()).set(name, swap.params.hash));
    }
    clearTimeout(swap?.timer);
    swaps.get(doc)?.delete(name);
    if (due.get(name)?.delete(doc)) options.changed();
  };
  const begin = (doc: Doc, params: PluginCodeParams) => {
    const { name, hash, hot } = params;
    if (!hot) return;
    const all = swaps.get(doc) ?? new Map<string, Swap>();
    swaps.set(doc, all);
    clearTimeout(all.get(name)?.timer);
    const late = () => over(doc, name, 'it did not answer');
    const nonce = options.nonce();
    all.set(name, { params, nonce, timer: setTimeout(late, hot.waitMs + ReplyMs) });
    due.set(name, (due.get(name) ?? new Set()).add(doc));
    doc.post({ op: 'renew', plugin: name, hash, nonce, waitMs: hot.waitMs });
  };
  const bring = async (doc: Doc, plugin: PluginInfo, { params, nonce }: Swap, based: boolean) => {
    const { name, hash, hot } = params;
    try {
      const code = enter(await options.doors.nameOf(based ? BASE : name), nonce, hash, hot?.adapter ?? '');
      if ((await options.run(doc, plugin, code)) === true) return; // the document says how it went
      over(doc, name, 'its door did not take the new one');
    } catch (error) {
      over(doc, name, String(error));
    }
  };
  let patience: ReturnType<typeof setTimeout> | undefined;
  /** giveUp ends the wait for code that did not come. */
  const giveUp = () => {
    for (const [name, some] of due) for (const doc of some) if (!swaps.get(doc)?.has(name)) some.delete(doc);
    options.changed();
  };
  return {
    code: async (params) => {
      const { name, hash } = params;
      const plugin = options.plugin(name);
      if (plugin?.hash !== hash) return;
      kept.set(name, params);
      setTimeout(() => kept.get(name) === params && kept.delete(name), KeptMs);
      for (const doc of older(plugin)) begin(doc, params);
    },
    named: (doc) => {
      for (const [name, params] of kept) {
        const plugin = options.plugin(name);
        if (plugin?.hash !== params.hash || swaps.get(doc)?.has(name)) continue;
        if (needs(doc, plugin)) begin(doc, params);
      }
    },
    said: (doc, message) => {
      const swap = swaps.get(doc)?.get(message.plugin);
      if (message.op === 'renewed') {
        over(doc, message.plugin, message.problem);
        return;
      }
      const plugin = options.plugin(message.plugin);
      if (!swap || !plugin || swap.nonce !== message.nonce) return;
      clearTimeout(swap.timer);
      swap.timer = setTimeout(() => over(doc, message.plugin, 'it did not answer'), ReplyMs);
      void bring(doc, plugin, swap, message.based);
    },
    lacking: () =>
      options.docs
        .all()
        .flatMap(({ doc, plugins }) =>
          [...plugins, ...options.docs.vacant(doc.documentId)].map(({ name }) => ({ doc, name })),
        )
        .flatMap(({ doc, name }) => {
          const plugin = options.plugin(name);
          return plugin && needs(doc, plugin) ? [name] : [];
        }),
    synced: (missing) => {
      due.clear();
      clearTimeout(patience);
      patience = setTimeout(giveUp, CodeMs);
      for (const name of missing) {
        const plugin = options.plugin(name);
        if (plugin) due.set(name, new Set(older(plugin)));
      }
    },
    expects: (tabId, plugin) => {
      const live = options.docs.live(tabId);
      return live !== undefined && due.get(plugin)?.has(live.doc) === true;
    },
  };
}
