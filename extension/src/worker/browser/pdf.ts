import { readFlag } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import type { Debuggers } from './debugger/debuggers.ts';
import type { TabFrames } from './tab-frames.ts';
import { toolFailure } from './tool-failure.ts';

const PrintTimeoutMs = 60_000;

export function makePdfTools(frames: TabFrames, debuggers: Debuggers): [string, BrowserTool][] {
  return [['browser_pdf_save', (call) => savePdf(frames, debuggers, call)]];
}

async function savePdf(frames: TabFrames, debuggers: Debuggers, call: BrowserCall): Promise<BrowserResult> {
  const { data: pdfData } = await debuggers.use(call.tabId, [], (session) =>
    session.send(
      'Page.printToPDF',
      { landscape: readFlag(call.args, 'landscape'), printBackground: true },
      PrintTimeoutMs,
    ),
  );
  if (typeof pdfData !== 'string' || pdfData === '')
    throw toolFailure('timeout', 'Chrome did not print the page. Try again');
  // Check the document again: during the printing, the tab may have navigated to a page that the call must not read.
  await frames.list(call);
  return { text: 'Printed the page.', file: { extension: 'pdf', mimeType: 'application/pdf', data: pdfData } };
}
