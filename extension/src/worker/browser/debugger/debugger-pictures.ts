import type { Rect } from '../../../page/operations.ts';
import { type Fields, isRecord } from '../../../record.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { Picture, PicturesBrowser } from '../pictures.ts';
import { makeDocumentGoneFailure, toolFailure } from '../tool-failure.ts';
import type { DebuggerSession, Debuggers } from './debuggers.ts';

/**
 * MaxPictureSidePixels limits the width and the height of a picture. Chrome writes no WebP picture of more than 16,383
 * pixels.
 */
export const MaxPictureSidePixels = 8000;
const CaptureTimeoutMs = 5000;
const MaxPictureAttempts = 2;

/** If the options `area` and `isFullPage` are missing, the picture shows the viewport. */
export interface DebuggerPictureOptions {
  readonly type: 'webp' | 'jpeg' | 'png';
  /** The field `quality` is the quality of WebP and JPEG pictures, from 0 to 100. */
  readonly quality: number;
  /** The field `area` is a part of the page in CSS pixels, relative to the viewport. */
  readonly area?: Rect;
  readonly isFullPage?: boolean;
  readonly maxWidth?: number;
}

export interface DebuggerPicture extends Picture {
  readonly isTruncated: boolean;
  readonly notes: readonly string[];
}

/** takeDebuggerPicture takes a picture of a tab with the debugger, even if the tab is in the background. */
export async function takeDebuggerPicture(
  debuggers: Debuggers,
  browser: Pick<PicturesBrowser, 'readDisplayedTab' | 'drawPicture'>,
  call: BrowserCall,
  options: DebuggerPictureOptions,
): Promise<DebuggerPicture> {
  const readShownDocument = async () => (await browser.readDisplayedTab(call.tabId))?.documentId;
  const documentBefore = call.documentId || (await readShownDocument());
  for (let attemptNumber = 1; ; attemptNumber++) {
    call.signal.throwIfAborted();
    const capturedPicture = await debuggers
      .use(call.tabId, ['drawing'], (session) => capturePicture(session, options))
      .catch((error: unknown) => {
        if (attemptNumber < MaxPictureAttempts && String(error).includes('did not finish')) return undefined;
        throw error;
      });
    // During the capture, the tab may have navigated to a page that the tool must not read.
    if ((await readShownDocument()) !== documentBefore) throw makeDocumentGoneFailure('open', false);
    if (capturedPicture) return await finishPicture(browser, capturedPicture, options);
  }
}

interface CapturedPicture {
  readonly data: string;
  readonly type: string;
  readonly width: number;
  readonly height: number;
  /** The field `ratio` is the number of pixels in the picture for each CSS pixel of the page. */
  readonly ratio: number;
  /** isFinal is true if the picture already has the requested size and file type. */
  readonly isFinal: boolean;
  /** The field `crop` is the part of the picture to keep, in CSS pixels, or undefined for the whole picture. */
  readonly crop: Rect | undefined;
  readonly notes: readonly string[];
}

async function capturePicture(session: DebuggerSession, options: DebuggerPictureOptions): Promise<CapturedPicture> {
  const layoutMetrics = await session.send('Page.getLayoutMetrics');
  const layoutView = readLayoutSizes(layoutMetrics.cssLayoutViewport);
  const layoutZoom = readLayoutSizes(layoutMetrics.layoutViewport).clientWidth / layoutView.clientWidth;
  const { clip, crop, fullSize } = chooseClip(options, layoutView, readLayoutSizes(layoutMetrics.cssContentSize));
  const [width, height] = [
    Math.round(clip?.width ?? layoutView.clientWidth),
    Math.round(clip?.height ?? layoutView.clientHeight),
  ];
  // Chrome measures the clip in unzoomed pixels of the tab, which are smaller than the CSS pixels of a zoomed page.
  const zoomFactor = readLayoutSizes(layoutMetrics.cssVisualViewport).zoom || 1;
  const pixelRatio = clip ? layoutZoom / zoomFactor : layoutZoom;
  const isFinal =
    !crop && Math.abs(pixelRatio - 1) < 0.01 && (options.maxWidth === undefined || width <= options.maxWidth);
  const type = isFinal ? options.type : 'png';
  const { data: pictureData } = await session.send(
    'Page.captureScreenshot',
    {
      format: type,
      ...(type === 'png' ? {} : { quality: options.quality }),
      ...(clip ? { clip: scaleClip(clip, zoomFactor), captureBeyondViewport: true } : {}),
    },
    CaptureTimeoutMs,
  );
  if (typeof pictureData !== 'string' || pictureData === '')
    throw toolFailure('timeout', 'Chrome took no picture of the tab');
  const pictureSubject = options.isFullPage ? 'page' : 'element';
  const sizeLimitNotes = [['wide', fullSize.width] as const, ['high', fullSize.height] as const].flatMap(
    ([dimensionWord, pixels]) =>
      pixels > MaxPictureSidePixels
        ? [`The ${pictureSubject} is ${pixels} pixels ${dimensionWord}; the picture ends at ${MaxPictureSidePixels}.`]
        : [],
  );
  return { data: pictureData, type, width, height, ratio: pixelRatio, isFinal, crop, notes: sizeLimitNotes };
}

/**
 * With a clip, Chrome resizes the page, so the picture can lack frames of other sites. An area of the viewport is
 * captured without a clip and cropped after the capture.
 */
function chooseClip(
  { area, isFullPage }: DebuggerPictureOptions,
  layoutView: LayoutSizes,
  content: LayoutSizes,
): { readonly clip?: Rect; readonly crop?: Rect; readonly fullSize: Pick<Rect, 'width' | 'height'> } {
  if (!area && !isFullPage) return { fullSize: { width: layoutView.clientWidth, height: layoutView.clientHeight } };
  if (area && isInView(area, layoutView)) return { crop: area, fullSize: area };
  const requestedArea = area
    ? { x: area.x + layoutView.pageX, y: area.y + layoutView.pageY, width: area.width, height: area.height }
    : { x: 0, y: 0, width: content.width, height: content.height };
  const clampSideLength = (side: number) => Math.max(1, Math.min(side, MaxPictureSidePixels));
  return {
    clip: {
      ...requestedArea,
      width: clampSideLength(requestedArea.width),
      height: clampSideLength(requestedArea.height),
    },
    fullSize: { width: Math.round(requestedArea.width), height: Math.round(requestedArea.height) },
  };
}

function isInView({ x, y, width, height }: Rect, layoutView: LayoutSizes): boolean {
  return x >= 0 && y >= 0 && x + width <= layoutView.clientWidth && y + height <= layoutView.clientHeight;
}

/** scaleClip converts a clip from CSS pixels to the unzoomed pixels of the tab. */
function scaleClip({ x, y, width, height }: Rect, zoomFactor: number): Rect & { readonly scale: number } {
  return {
    x: x * zoomFactor,
    y: y * zoomFactor,
    width: width * zoomFactor,
    height: height * zoomFactor,
    scale: 1 / zoomFactor,
  };
}

async function finishPicture(
  browser: Pick<PicturesBrowser, 'drawPicture'>,
  capturedPicture: CapturedPicture,
  options: DebuggerPictureOptions,
): Promise<DebuggerPicture> {
  const { data: pictureData, width, height, ratio: pixelRatio, crop, notes: sizeLimitNotes, isFinal } = capturedPicture;
  const isSizeLimited = sizeLimitNotes.length > 0;
  if (isFinal) return { data: pictureData, width, height, isTruncated: isSizeLimited, notes: sizeLimitNotes };
  const scaledPicture = await browser.drawPicture(`data:image/${capturedPicture.type};base64,${pictureData}`, {
    mimeType: `image/${options.type}`,
    ratio: pixelRatio,
    ...(crop ? { area: crop } : {}),
    ...(options.maxWidth === undefined ? {} : { maxWidth: options.maxWidth }),
  });
  return { ...scaledPicture, isTruncated: isSizeLimited, notes: sizeLimitNotes };
}

type LayoutSizes = Readonly<
  Record<'clientWidth' | 'clientHeight' | 'pageX' | 'pageY' | 'width' | 'height' | 'zoom', number>
>;

function readLayoutSizes(value: unknown): LayoutSizes {
  const sizeFields: Fields = isRecord(value) ? value : {};
  const readSize = (key: keyof LayoutSizes) => {
    const sizeNumber = sizeFields[key];
    return typeof sizeNumber === 'number' && Number.isFinite(sizeNumber) ? sizeNumber : 0;
  };
  return {
    clientWidth: readSize('clientWidth'),
    clientHeight: readSize('clientHeight'),
    pageX: readSize('pageX'),
    pageY: readSize('pageY'),
    width: readSize('width'),
    height: readSize('height'),
    zoom: readSize('zoom'),
  };
}
