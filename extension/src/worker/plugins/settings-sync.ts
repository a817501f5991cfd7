import type { PluginInfo, PluginSettings } from '../../../../wire/wire.gen.ts';
import type { DocumentTable, DocWithPlugins } from '../documents/docs.ts';

export interface SettingsSyncOptions {
  readonly docs: DocumentTable;
  listWantedPlugins(): readonly PluginInfo[] | undefined;
}

/** SettingsSync sends the current settings of plugins to documents, and removes the adapters of deleted plugins. */
export interface SettingsSync {
  /**
   * onDocumentReported sends the settings of all running adapters to a document that has just reported its adapters.
   */
  onDocumentReported(documentId: string): void;
  onPluginsSynced(): void;
  setSettings(plugin: string, settings: PluginSettings): void;
}

export function makeSettingsSync(options: SettingsSyncOptions): SettingsSync {
  const settingsByPlugin = new Map<string, PluginSettings>();
  const sentSettings = new Map<string, Map<string, PluginSettings>>();

  const updateDocument = ({ doc, plugins }: DocWithPlugins) => {
    const wantedPlugins = options.listWantedPlugins();
    const documentSettings = sentSettings.get(doc.documentId) ?? new Map<string, PluginSettings>();
    sentSettings.set(doc.documentId, documentSettings);
    for (const { name } of plugins) {
      if (wantedPlugins && !wantedPlugins.some((plugin) => plugin.name === name))
        doc.post({ op: 'removePlugin', plugin: name });
      const settings = settingsByPlugin.get(name);
      if (!settings || documentSettings.get(name) === settings) continue;
      documentSettings.set(name, settings);
      doc.post({ op: 'settings', plugin: name, settings });
    }
  };
  const updateAllDocuments = () => {
    const liveDocs = options.docs.listReported();
    for (const id of [...sentSettings.keys()]) if (!options.docs.get(id)) sentSettings.delete(id);
    for (const liveDoc of liveDocs) updateDocument(liveDoc);
  };
  return {
    onDocumentReported: (documentId) => {
      const reportedDoc = options.docs.findReported(documentId);
      if (reportedDoc) updateDocument(reportedDoc);
    },
    onPluginsSynced: updateAllDocuments,
    setSettings: (plugin, settings) => {
      settingsByPlugin.set(plugin, settings);
      updateAllDocuments();
    },
  };
}
