// Reads the content of the frame as Markdown, text or HTML, in parts.
import { PageFailure } from './failure.ts';
import { makeFrameInfo } from './frames.ts';
import { HtmlWriter } from './html.ts';
import { MarkdownWriter } from './markdown.ts';
import type { FrameInfo, ReadArguments, ReadResult } from './operations.ts';
import { runInTasks } from './pace.ts';
import { collectSecrets } from './secrets.ts';
import { DefaultMaxTokens, getRootElement, isPdf, PdfNote, readDocumentTitle } from './snapshot.ts';
import { findTarget, type PageContext, type StoredText } from './state.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { cleanLines, countTokens } from './visible-text.ts';

const MinTokens = 100;

export async function readContent(args: ReadArguments, context: PageContext): Promise<ReadResult> {
  const { maxTokens = DefaultMaxTokens, cursor } = args;
  if (!Number.isFinite(maxTokens) || maxTokens < MinTokens) {
    throw new PageFailure('invalid_arguments', `maxTokens is ${maxTokens}. Use at least ${MinTokens}.`);
  }
  if (cursor !== undefined) return readFromCursor(cursor, maxTokens, context);
  const format = args.format ?? 'markdown';
  const root = args.target ? findTarget(args.target, context) : getRootElement();
  const writer = format === 'html' ? new HtmlWriter() : new MarkdownWriter(format === 'markdown');
  const pageText = await runInTasks(writer.run(root), context.signal, (visitedCount) =>
    context.report({ message: `read ${visitedCount} elements`, progress: visitedCount }),
  );
  const text = isPdf() ? PdfNote : collectSecrets().maskText(cleanLines(pageText));
  const id = context.state.storeText({ text, isTruncated: writer.isTruncated });
  const frames = writer.frames.map((element) => {
    const ref = context.state.refs.getElementRef(element, context.prefix, 'iframe', '');
    return makeFrameInfo(element, ref, -1);
  });
  return makeReadPage({ id, text, isTruncated: writer.isTruncated }, 0, maxTokens, frames);
}

function readFromCursor(cursor: string, maxTokens: number, context: PageContext): ReadResult {
  const [, id = '', offset = ''] = /^(r\d+):(\d+)$/.exec(cursor) ?? [];
  const storedText = context.state.findText(id);
  if (storedText === undefined) {
    throw new PageFailure(
      'invalid_arguments',
      `The cursor "${cursor}" has expired. Read the page again without a cursor.`,
    );
  }
  return makeReadPage({ id, ...storedText }, Number(offset), maxTokens, []);
}

function makeReadPage(
  { id, text, isTruncated }: StoredText & { readonly id: string },
  offset: number,
  maxTokens: number,
  frames: readonly FrameInfo[],
): ReadResult {
  const end = findPageEnd(text, offset, maxTokens);
  const pageText = text.slice(offset, end);
  return {
    text: pageText.trim(),
    title: readDocumentTitle(),
    url: location.href,
    tokens: countTokens(pageText),
    ...(end < text.length ? { cursor: `${id}:${end}` } : {}),
    total: countTokens(text),
    ...(isTruncated ? { cut: true } : {}),
    ...(unclobberedDocument.readyState === 'loading' ? { loading: true } : {}),
    frames,
  };
}

function findPageEnd(text: string, offset: number, maxTokens: number): number {
  let length = 4 * maxTokens;
  while (countTokens(text.slice(offset, offset + length)) > maxTokens) length = Math.floor(length * 0.8);
  if (offset + length >= text.length) return text.length;
  const window = text.slice(offset, offset + length);
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = window.lastIndexOf(separator);
    if (at > length * 0.7) return offset + at + separator.length;
  }
  return offset + (/[\ud800-\udbff]$/.test(window) ? length - 1 : length);
}
