import type * as chromeTabs from '../../chrome-tabs.ts';
import type { Rect } from '../../page/operations.ts';
import { sleep } from '../../within.ts';
import { readChoice, readFlag, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { takeDebuggerPicture } from './debugger/debugger-pictures.ts';
import type { Debuggers } from './debugger/debuggers.ts';
import type { TabFrames } from './tab-frames.ts';
import { type FailureTexts, makeCallFailure, ToolFailure, toolFailure } from './tool-failure.ts';

export type PicturesBrowser = Pick<typeof chromeTabs, 'readDisplayedTab' | 'captureTab'> & {
  readonly debuggers: Debuggers;
  drawPicture: typeof drawPicture;
};

/** Picture is a base64-encoded picture and its size in pixels. */
export interface Picture {
  readonly data: string;
  readonly width: number;
  readonly height: number;
}

/** Chrome allows an extension to capture a tab at most twice per second. */
const QuotaRetryMs = 600;
const MaxPictureAttempts = 5;
/** ImageQuality is the quality of WebP and JPEG pictures, from 0 to 1. */
const ImageQuality = 0.8;

export function makePictureTools(browser: PicturesBrowser, frames: TabFrames): [string, BrowserTool][] {
  return [['browser_take_screenshot', (call) => takeScreenshot(browser, frames, call)]];
}

async function takeScreenshot(browser: PicturesBrowser, frames: TabFrames, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const target = readText(args, 'target');
  const type = readChoice(args, 'type', ['webp', 'jpeg', 'png']) ?? 'webp';
  const maxWidth = readNumber(args, 'maxWidth');
  const isFullPage = readFlag(args, 'fullPage');
  if (isFullPage && target !== undefined)
    throw makeCallFailure('invalid_arguments', 'browser_take_screenshot takes either a target or fullPage');
  const pictureArea = target === undefined ? undefined : await findPictureArea(frames, call, target);
  const widthLimit = maxWidth === undefined ? {} : { maxWidth };
  const tabPicture = await captureWithoutDebugger(browser, call, { area: pictureArea, isFullPage });
  if (tabPicture) {
    const picturedPart = target === undefined ? visiblePartText : `${target}, as far as it is in view`;
    const areaField = pictureArea ? { area: pictureArea.rect } : {};
    const options = { mimeType: `image/${type}`, viewportWidth: tabPicture.width, ...areaField, ...widthLimit };
    return toResult(`Picture of ${picturedPart}`, await browser.drawPicture(tabPicture.data, options), type);
  }
  const areaField = pictureArea ? { area: pictureArea.rect } : { isFullPage };
  const options = { type, quality: ImageQuality * 100, ...areaField, ...widthLimit };
  const picture = await takeDebuggerPicture(browser.debuggers, browser, call, options);
  const picturedPart =
    target ?? (isFullPage ? `the ${picture.isTruncated ? 'first part of the ' : ''}full page` : visiblePartText);
  return toResult(`Picture of ${picturedPart}`, picture, type, [...picture.notes, 'Taken with the debugger.']);
}

/**
 * If the picture needs the debugger and the extension has the debugger permission, captureWithoutDebugger returns
 * undefined.
 */
async function captureWithoutDebugger(
  browser: PicturesBrowser,
  call: BrowserCall,
  { area: pictureArea, isFullPage }: { readonly area: PictureArea | undefined; readonly isFullPage: boolean },
): Promise<{ data: string; width: number } | undefined> {
  try {
    if (isFullPage) throw makeNeedsDebuggerFailure('a picture of the full page', viewportAlternativeTexts);
    if (pictureArea?.isInFrame)
      throw makeNeedsDebuggerFailure('a picture of an element in a frame', viewportAlternativeTexts);
    return await captureVisibleTab(browser, call);
  } catch (error) {
    const needsDebugger = error instanceof ToolFailure && error.error.tool?.code === 'needs_debugger';
    if (needsDebugger && browser.debuggers.state !== 'absent') return undefined;
    throw error;
  }
}

const visiblePartText = 'the visible part of the page';

function toResult(title: string, picture: Picture, type: string, pictureNotes: readonly string[] = []): BrowserResult {
  const resultLines = [`${title}, ${picture.width} x ${picture.height} pixels.`, ...pictureNotes].join(' ');
  return { text: resultLines, image: { data: picture.data, mimeType: `image/${type}` } };
}

interface PictureArea {
  readonly rect: Rect;
  readonly isInFrame: boolean;
}

async function findPictureArea(frames: TabFrames, call: BrowserCall, target: string): Promise<PictureArea> {
  const frame = await frames.findFrameByRef(call, target);
  await frames.run(call, frame, 'scroll', { target, snapshot: 'none' });
  const { rect, hit, covered } = await frames.run(call, frame, 'locate', { target });
  if (rect.width <= 0 || rect.height <= 0)
    throw toolFailure('not_hittable', `${target} has no visible part. Choose another element`);
  if (!hit && !covered)
    throw toolFailure(
      'not_hittable',
      `${target} is outside of the page, where no picture shows it. Choose another element`,
    );
  const origin = await frames.findOrigin(call, frame);
  if (!origin)
    throw toolFailure(
      'not_hittable',
      `the place of ${target} in the tab is unknown: its frame is scaled or in a shadow root`,
    );
  return { rect: { ...rect, x: rect.x + origin.x, y: rect.y + origin.y }, isInFrame: frame.frameId !== 0 };
}

/** captureVisibleTab fails if the user switches to another tab during the capture. */
async function captureVisibleTab(
  browser: PicturesBrowser,
  call: BrowserCall,
): Promise<{ data: string; width: number }> {
  for (let attemptNumber = 1; ; attemptNumber++) {
    const displayedTabBefore = await browser.readDisplayedTab(call.tabId);
    if (!displayedTabBefore?.active)
      throw makeNeedsDebuggerFailure('a picture of a tab that its window does not display', showTabAlternativeTexts);
    try {
      const capturedData = await browser.captureTab(displayedTabBefore.windowId);
      // The tool must not return a picture of another tab, to which the user may have switched during the capture.
      const displayedTabAfter = await browser.readDisplayedTab(call.tabId);
      if (
        displayedTabAfter?.active &&
        displayedTabAfter.windowId === displayedTabBefore.windowId &&
        displayedTabAfter.documentId === displayedTabBefore.documentId
      )
        return { data: capturedData, width: displayedTabBefore.width };
      throw makeNeedsDebuggerFailure('a picture of a tab that its window no longer displays', showTabAlternativeTexts);
    } catch (error) {
      if (!String(error).includes('MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND')) throw toCaptureFailure(error);
      if (attemptNumber === MaxPictureAttempts)
        throw toolFailure('timeout', 'Chrome takes two pictures a second. Try again later');
      await sleep(QuotaRetryMs, call.signal);
    }
  }
}

function toCaptureFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'ToolFailure') return error;
  if (error.message.includes('<all_urls>')) return toolFailure('needs_permission', missingSiteAccessTexts);
  return makeDebuggerRequiredFailure(`Chrome took no picture (${error.message})`, showTabAlternativeTexts);
}

/**
 * showTabAlternativeTexts are error texts that describe how to take a picture of a background tab without the debugger.
 */
const showTabAlternativeTexts: FailureTexts = {
  forAgent: 'Either ask the user to show the tab (or use browser_tabs with the action select and focus true)',
  forUser: 'Show the tab',
};

/**
 * viewportAlternativeTexts are error texts for a picture of more than the visible part of a tab, which needs the
 * debugger.
 */
const viewportAlternativeTexts: FailureTexts = {
  forAgent: 'Either scroll and take pictures of the visible part, without fullPage and target',
  forUser: 'Ask for a picture of the visible part',
};

const missingSiteAccessTexts: FailureTexts = {
  forAgent:
    'Chrome takes pictures of pages only for extensions with access to all sites. Use browser_snapshot, or ask the user ' +
    'to open the side panel of opentabs and to switch on "All sites" under Browser, Sites in Chrome',
  forUser:
    'Chrome takes pictures of pages only for extensions with access to all sites. Open the side panel of opentabs and ' +
    'switch on "All sites" under Browser, Sites in Chrome.',
};

function makeNeedsDebuggerFailure(subject: string, alternative: FailureTexts): Error {
  return makeDebuggerRequiredFailure(`${subject} needs the debugger`, alternative);
}

function makeDebuggerRequiredFailure(reason: string, alternative: FailureTexts): Error {
  const installCommand = 'opentabs extension install --debugger';
  return toolFailure('needs_debugger', {
    forAgent: `${reason}. ${alternative.forAgent}, or the user adds the debugger with: ${installCommand}`,
    forUser: `${reason}. ${alternative.forUser}, or add the debugger with \`${installCommand}\`.`,
  });
}

export interface PictureOptions {
  readonly mimeType: string;
  /** The field `viewportWidth` is the width of the viewport in CSS pixels, and is required if `ratio` is missing. */
  readonly viewportWidth?: number;
  /**
   * The field `ratio` is the number of pixels in the picture for each CSS pixel, and is required if `viewportWidth` is
   * missing.
   */
  readonly ratio?: number;
  /** The field `area` is the part of the viewport to keep, in CSS pixels. */
  readonly area?: Rect;
  readonly maxWidth?: number;
}

/** drawPicture crops a picture, scales it to one pixel for each CSS pixel, and returns the picture in base64. */
export async function drawPicture(
  dataUrl: string,
  { mimeType, viewportWidth = 0, area: pictureArea, maxWidth, ...options }: PictureOptions,
): Promise<Picture> {
  const imageBitmap = await createImageBitmap(await (await fetch(dataUrl)).blob());
  const pixelRatio = options.ratio ?? (viewportWidth > 0 ? imageBitmap.width / viewportWidth : 1);
  const sourceArea = cropArea(pictureArea, pixelRatio, imageBitmap);
  const cssWidth = sourceArea.width / pixelRatio;
  const scaleFactor = Math.min(cssWidth, maxWidth ?? cssWidth) / sourceArea.width;
  const width = Math.max(1, Math.round(sourceArea.width * scaleFactor));
  const height = Math.max(1, Math.round(sourceArea.height * scaleFactor));
  const drawingCanvas = new OffscreenCanvas(width, height);
  const context = drawingCanvas.getContext('2d');
  if (!context) throw new Error('the browser draws no pictures');
  context.drawImage(imageBitmap, sourceArea.x, sourceArea.y, sourceArea.width, sourceArea.height, 0, 0, width, height);
  imageBitmap.close();
  const blob = await drawingCanvas.convertToBlob({ type: mimeType, quality: ImageQuality });
  return { data: toBase64(new Uint8Array(await blob.arrayBuffer())), width, height };
}

function cropArea(pictureArea: Rect | undefined, pixelRatio: number, imageBitmap: ImageBitmap): Rect {
  if (!pictureArea) return { x: 0, y: 0, width: imageBitmap.width, height: imageBitmap.height };
  const x = Math.min(Math.max(0, Math.floor(pictureArea.x * pixelRatio)), imageBitmap.width - 1);
  const y = Math.min(Math.max(0, Math.floor(pictureArea.y * pixelRatio)), imageBitmap.height - 1);
  const rightEdge = Math.min(imageBitmap.width, Math.ceil((pictureArea.x + pictureArea.width) * pixelRatio));
  const bottom = Math.min(imageBitmap.height, Math.ceil((pictureArea.y + pictureArea.height) * pixelRatio));
  return { x, y, width: Math.max(1, rightEdge - x), height: Math.max(1, bottom - y) };
}

function toBase64(bytes: Uint8Array): string {
  const chunkBytes = 0x8000;
  let resultLines = '';
  for (let start = 0; start < bytes.length; start += chunkBytes)
    resultLines += String.fromCharCode(...bytes.subarray(start, start + chunkBytes));
  return btoa(resultLines);
}
