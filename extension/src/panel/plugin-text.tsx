import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PluginPageResult, SectionName } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { splitLines } from './review-words.ts';
import { Scrollable } from './scrollable.tsx';

export interface PluginTextProps {
  readonly plugin: string;
  readonly hash: string;
  readonly section: SectionName;
  readonly title: string;
  readonly pages: number;
  readonly act: SendAction;
}

/** PluginText shows one section of a plugin, such as its code, in pages of plain text with line numbers. */
export function PluginText({ plugin, hash, section, title, pages, act }: PluginTextProps): VNode {
  const [page, setPage] = useState(1);
  const [shownPage, setShownPage] = useState<PluginPageResult>();
  const { isBusy, error, run } = usePanelAction(act);
  /** shownPageNumber is a React key, so that each page of text starts scrolled to its beginning. */
  const [shownPageNumber, setShownPageNumber] = useState(1);
  const load = async (wantedPage: number) => {
    setPage(wantedPage);
    const { page: loadedPage } = await run({
      op: 'pluginPage',
      params: { plugin, hash, section, page: wantedPage },
    });
    if (!loadedPage) return;
    setShownPage(loadedPage);
    setShownPageNumber(wantedPage);
  };
  useEffect(() => void load(1), []);
  return (
    <div class="plugin-text">
      {shownPage ? (
        <Scrollable class="source" label={title} key={shownPageNumber}>
          <TextLines page={shownPage} isDiff={section === 'changes'} />
        </Scrollable>
      ) : (
        error === '' && <p class="note">Loading…</p>
      )}
      {error !== '' && (
        <>
          <ErrorText text={error} />
          <button type="button" disabled={isBusy} onClick={() => void load(page)}>
            Try again
          </button>
        </>
      )}
      {pages > 1 && (
        <div class="pages">
          <button type="button" disabled={isBusy || page <= 1} onClick={() => void load(page - 1)}>
            Previous page
          </button>
          <span role="status">
            Page {page} of {pages}
          </span>
          <button type="button" disabled={isBusy || page >= pages} onClick={() => void load(page + 1)}>
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
      {splitLines(page.text).map((line, i) => (
        <span
          key={page.firstLine + i}
          data-line={page.firstLine + i}
          class={isDiff ? chooseDiffClass(line) : undefined}
        >
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}

function chooseDiffClass(line: string): string {
  if (line.startsWith('diff ') || line.startsWith('--- reviewed/') || line.startsWith('+++ now/')) return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
}
