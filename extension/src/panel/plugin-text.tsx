import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PluginPageResult, SectionName } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { splitLines } from './review-words.ts';
import { ScrollableArea } from './scrollable.tsx';

export interface PluginTextProps {
  readonly plugin: string;
  readonly hash: string;
  readonly sectionName: SectionName;
  readonly title: string;
  readonly pages: number;
  readonly sendAction: SendAction;
}

/** PluginText shows one section of a plugin, such as its code, in pages of plain text with line numbers. */
export function PluginText({ plugin, hash, sectionName, title, pages, sendAction }: PluginTextProps): VNode {
  const [page, setPage] = useState(1);
  const [shownPage, setShownPage] = useState<PluginPageResult>();
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  /** shownPageNumber is a React key, so that each page of text starts scrolled to its beginning. */
  const [shownPageNumber, setShownPageNumber] = useState(1);
  const loadPage = async (pageNumber: number) => {
    setPage(pageNumber);
    const { page: loadedPage } = await runAction({
      op: 'pluginPage',
      params: { plugin, hash, section: sectionName, page: pageNumber },
    });
    if (!loadedPage) return;
    setShownPage(loadedPage);
    setShownPageNumber(pageNumber);
  };
  useEffect(() => void loadPage(1), []);
  return (
    <div class="plugin-text">
      {shownPage ? (
        <ScrollableArea class="source" label={title} key={shownPageNumber}>
          <TextLines page={shownPage} isDiff={sectionName === 'changes'} />
        </ScrollableArea>
      ) : (
        error === '' && <p class="note">Loading…</p>
      )}
      {error !== '' && (
        <>
          <ErrorText errorText={error} />
          <button type="button" disabled={isBusy} onClick={() => void loadPage(page)}>
            Try again
          </button>
        </>
      )}
      {pages > 1 && (
        <div class="pages">
          <button type="button" disabled={isBusy || page <= 1} onClick={() => void loadPage(page - 1)}>
            Previous page
          </button>
          <span role="status">
            Page {page} of {pages}
          </span>
          <button type="button" disabled={isBusy || page >= pages} onClick={() => void loadPage(page + 1)}>
            Next page
          </button>
        </div>
      )}
    </div>
  );
}

function TextLines({ page, isDiff }: { readonly page: PluginPageResult; readonly isDiff: boolean }): VNode {
  return (
    <pre>
      {splitLines(page.text).map((diffLine, i) => (
        <span
          key={page.firstLine + i}
          data-line={page.firstLine + i}
          class={isDiff ? chooseDiffClass(diffLine) : undefined}
        >
          {`${diffLine}\n`}
        </span>
      ))}
    </pre>
  );
}

function chooseDiffClass(diffLine: string): string {
  if (diffLine.startsWith('diff ') || diffLine.startsWith('--- reviewed/') || diffLine.startsWith('+++ now/'))
    return 'file';
  if (diffLine.startsWith('@@')) return 'hunk';
  if (diffLine.startsWith('+')) return 'added';
  return diffLine.startsWith('-') ? 'removed' : '';
}
