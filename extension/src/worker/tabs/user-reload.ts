import type { Doc, DocumentTable } from '../documents/docs.ts';
import type { HealthMonitor } from '../documents/health.ts';

const PingAnswerTimeoutMs = 1500;

export interface UserReloadOptions {
  readonly docs: Pick<DocumentTable, 'listReported' | 'listInTab'>;
  readonly health: Pick<HealthMonitor, 'prepareCall' | 'hasAnswered' | 'isSilent'>;
  /** unloadTab discards the page of a tab and returns the tab's new ID. */
  unloadTab(tabId: number): Promise<number>;
  reloadTab(tabId: number): Promise<void>;
}

/**
 * Chrome cannot reload an unresponsive page, so the worker discards the page before reloading its tab. Pages of the
 * same site may share a renderer process, which ends only when all its pages are discarded. If a site's renderer
 * process is blocked, the worker also discards and reloads the site's other unresponsive pages.
 */
export function makeUserReload({
  docs,
  health,
  unloadTab,
  reloadTab,
}: UserReloadOptions): (tabId: number) => Promise<void> {
  return async (tabId) => {
    const silentDoc = docs.listInTab(tabId).find((doc) => health.isSilent(doc.documentId));
    if (!silentDoc) {
      await reloadTab(tabId);
      return;
    }
    const host = readHost(silentDoc);
    const pingedDocs = docs
      .listReported()
      .filter(({ doc }) => doc.tabId !== tabId && readHost(doc) === host)
      .map(({ doc }) => ({ doc, ping: health.prepareCall(doc) }));
    if (pingedDocs.length > 0) await new Promise((resolve) => setTimeout(resolve, PingAnswerTimeoutMs));
    const otherSilentTabs = pingedDocs
      .filter(({ doc, ping }) => !health.hasAnswered(doc.documentId, ping))
      .map(({ doc }) => doc.tabId);
    const newTabIds = await Promise.all([...new Set([tabId, ...otherSilentTabs])].map(unloadTab));
    await Promise.all(newTabIds.map(reloadTab));
  };
}

function readHost({ url }: Doc): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
