import type { PluginInfo, PluginSettings } from '../../../wire/wire.gen.ts';
import type { Docs, LiveDoc } from './docs.ts';

export interface SettingsSyncOptions {
  readonly docs: Docs;
  /** wanted returns what the last sync named; nothing before there was one. */
  wanted(): readonly PluginInfo[] | undefined;
}

/**
 * SettingsSync sees to it that the adapters in documents have the settings that hold now, and that those of plugins which are
 * gone are torn down.
 */
export interface SettingsSync {
  /** documentNamed sends settings to a document that has named its adapters. */
  documentNamed(documentId: string): void;
  /** synced updates all documents after a sync. */
  synced(): void;
  /** settings stores and sends the settings of a plugin. */
  settings(plugin: string, settings: PluginSettings): void;
}

/** makeSettingsSync returns an empty SettingsSync. */
export function makeSettingsSync(options: SettingsSyncOptions): SettingsSync {
  const known = new Map<string, PluginSettings>();
  /** given are, by document, the settings that its adapters have got. */
  const given = new Map<string, Map<string, PluginSettings>>();

  const tend = ({ doc, plugins }: LiveDoc) => {
    const wanted = options.wanted();
    const had = given.get(doc.documentId) ?? new Map<string, PluginSettings>();
    given.set(doc.documentId, had);
    for (const { name } of plugins) {
      if (wanted && !wanted.some((plugin) => plugin.name === name)) doc.post({ op: 'remove', plugin: name });
      const settings = known.get(name);
      if (!settings || had.get(name) === settings) continue;
      had.set(name, settings);
      doc.post({ op: 'settings', plugin: name, settings });
    }
  };
  const tendAll = () => {
    const all = options.docs.all();
    for (const id of [...given.keys()]) if (!options.docs.get(id)) given.delete(id);
    for (const each of all) tend(each);
  };
  return {
    documentNamed: (documentId) => {
      const live = options.docs.told(documentId);
      if (live) tend(live);
    },
    synced: tendAll,
    settings: (plugin, settings) => {
      known.set(plugin, settings);
      tendAll();
    },
  };
}
