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
  /** setSettings stores and sends the settings of a plugin. */
  setSettings(plugin: string, settings: PluginSettings): void;
}

/** makeSettingsSync returns an empty SettingsSync. */
export function makeSettingsSync(options: SettingsSyncOptions): SettingsSync {
  const settingsByPlugin = new Map<string, PluginSettings>();
  /** sentSettings maps each document to the settings that its adapters have received. */
  const sentSettings = new Map<string, Map<string, PluginSettings>>();

  const updateDocument = ({ doc, plugins }: LiveDoc) => {
    const wanted = options.wanted();
    const documentSettings = sentSettings.get(doc.documentId) ?? new Map<string, PluginSettings>();
    sentSettings.set(doc.documentId, documentSettings);
    for (const { name } of plugins) {
      if (wanted && !wanted.some((plugin) => plugin.name === name)) doc.post({ op: 'removePlugin', plugin: name });
      const settings = settingsByPlugin.get(name);
      if (!settings || documentSettings.get(name) === settings) continue;
      documentSettings.set(name, settings);
      doc.post({ op: 'settings', plugin: name, settings });
    }
  };
  const updateAll = () => {
    const liveDocs = options.docs.all();
    for (const id of [...sentSettings.keys()]) if (!options.docs.get(id)) sentSettings.delete(id);
    for (const liveDoc of liveDocs) updateDocument(liveDoc);
  };
  return {
    documentReported: (documentId) => {
      const live = options.docs.findReported(documentId);
      if (live) updateDocument(live);
    },
    synced: updateAll,
    setSettings: (plugin, settings) => {
      settingsByPlugin.set(plugin, settings);
      updateAll();
    },
  };
}
