import type { PluginInfo, PluginSettings } from '../../../../wire/wire.gen.ts';
import type { Docs, LiveDoc } from '../documents/docs.ts';

export interface SettingsSyncOptions {
  readonly docs: Docs;
  /** wanted returns the plugins of the last sync, or undefined before the first sync. */
  wanted(): readonly PluginInfo[] | undefined;
}

/**
 * SettingsSync sends current settings to the adapters in documents, and removes adapters of plugins that no longer
 * exist.
 */
export interface SettingsSync {
  /** documentReported sends settings to a document that has reported its adapters. */
  documentReported(documentId: string): void;
  /** synced updates all documents after a sync. */
  synced(): void;
  /** settings stores and sends the settings of a plugin. */
  settings(plugin: string, settings: PluginSettings): void;
}

/** makeSettingsSync returns an empty SettingsSync. */
export function makeSettingsSync(options: SettingsSyncOptions): SettingsSync {
  const known = new Map<string, PluginSettings>();
  /** received maps each document to the settings that its adapters have received. */
  const received = new Map<string, Map<string, PluginSettings>>();

  const update = ({ doc, plugins }: LiveDoc) => {
    const wanted = options.wanted();
    const had = received.get(doc.documentId) ?? new Map<string, PluginSettings>();
    received.set(doc.documentId, had);
    for (const { name } of plugins) {
      if (wanted && !wanted.some((plugin) => plugin.name === name)) doc.post({ op: 'remove', plugin: name });
      const settings = known.get(name);
      if (!settings || had.get(name) === settings) continue;
      had.set(name, settings);
      doc.post({ op: 'settings', plugin: name, settings });
    }
  };
  const updateAll = () => {
    const all = options.docs.all();
    for (const id of [...received.keys()]) if (!options.docs.get(id)) received.delete(id);
    for (const each of all) update(each);
  };
  return {
    documentReported: (documentId) => {
      const live = options.docs.findReported(documentId);
      if (live) update(live);
    },
    synced: updateAll,
    settings: (plugin, settings) => {
      known.set(plugin, settings);
      updateAll();
    },
  };
}
