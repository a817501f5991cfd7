import type { Doc, Docs } from '../documents/docs.ts';
import type { Health } from '../documents/health.ts';

/** AskMs is how long the other pages of a site have to answer, in milliseconds. */
const AskMs = 1500;

export interface UserReloadOptions {
  readonly docs: Pick<Docs, 'all' | 'ofTab'>;
  readonly health: Pick<Health, 'prepareCall' | 'answered' | 'isSilent'>;
  /** unloadTab ends the page of a tab and returns the tab's new id. */
  unloadTab(tabId: number): Promise<number>;
  reloadTab(tabId: number): Promise<void>;
}

/**
 * makeUserReload returns a function that reloads a tab for the user. Chrome cannot reload a page that does not answer,
 * so such a page is unloaded first. Pages of one site may share a process, which ends only with the last of these
 * pages. Therefore unresponsive pages of the same site are unloaded and reloaded too.
 */
export function makeUserReload({
  docs,
  health,
  unloadTab,
  reloadTab,
}: UserReloadOptions): (tabId: number) => Promise<void> {
  return async (tabId) => {
    const stuck = docs.ofTab(tabId).find((doc) => health.isSilent(doc.documentId));
    if (!stuck) {
      await reloadTab(tabId);
      return;
    }
    const host = hostOf(stuck);
    const asked = docs
      .all()
      .filter(({ doc }) => doc.tabId !== tabId && hostOf(doc) === host)
      .map(({ doc }) => ({ doc, ping: health.prepareCall(doc) }));
    if (asked.length > 0) await new Promise((resolve) => setTimeout(resolve, AskMs));
    const others = asked.filter(({ doc, ping }) => !health.answered(doc.documentId, ping)).map(({ doc }) => doc.tabId);
    const unloaded = await Promise.all([...new Set([tabId, ...others])].map(unloadTab));
    await Promise.all(unloaded.map(reloadTab));
  };
}

function hostOf({ url }: Doc): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
