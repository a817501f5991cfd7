import type { AnyTab, SecretFields, TabInspection } from '../../../../wire/wire.gen.ts';
import type { InspectArguments, InspectResult } from '../../page/secret-kind.ts';
import { awaitWithin } from '../../within.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';

/** InspectionTimeoutMs limits how long a frame may take to find its secret fields, in milliseconds. */
const InspectionTimeoutMs = 1000;

/**
 * findSecretFields returns the kinds of secret fields of a page, such as password fields. findSecretFields returns
 * undefined if the top frame, or a frame into which the call types, does not answer. If the page does not answer, the
 * server assumes that the page has secret fields.
 */
export async function findSecretFields(
  frames: TabFrames,
  { tabId, documentId }: AnyTab,
  { refs: wantedRefs = [], focused = false }: TabInspection,
): Promise<SecretFields | undefined> {
  if (documentId === undefined) return undefined;
  const [topFrame, ...otherFrames] = await frames.list({ tabId, documentId, args: {} });
  if (!topFrame) return undefined;
  const inspectedFrames = [topFrame, ...otherFrames.filter((frame) => filterRefsOfFrame(frame, wantedRefs).length > 0)];
  const furtherFrames = otherFrames.filter((frame) => !inspectedFrames.includes(frame)).slice(0, MaxFrames);
  const inspectOneFrame = (frame: FrameTarget) =>
    inspectFrame(frames, frame, { targets: filterRefsOfFrame(frame, wantedRefs), focused });
  const [requiredResults, optionalResults] = await Promise.all([
    Promise.all(inspectedFrames.map(inspectOneFrame)),
    Promise.all(furtherFrames.map(inspectOneFrame)),
  ]);
  if (requiredResults.includes(undefined)) return undefined;
  const results = [...requiredResults, ...optionalResults].filter((result) => result !== undefined);
  const mergeSecretKinds = (kinds: readonly (readonly string[])[]) => [...new Set(kinds.flat())].sort();
  return {
    shown: mergeSecretKinds(results.map(({ shown }) => shown)),
    typed: mergeSecretKinds(results.map(({ typed }) => typed)),
  };
}

function filterRefsOfFrame({ prefix }: FrameTarget, wantedRefs: readonly string[]): string[] {
  return wantedRefs.filter((ref) => (/^(f\d+)e\d+$/.exec(ref)?.[1] ?? '') === prefix);
}

async function inspectFrame(
  frames: TabFrames,
  frame: FrameTarget,
  args: InspectArguments,
): Promise<InspectResult | undefined> {
  const controller = new AbortController();
  const inspection = frames.run({ signal: controller.signal, report: () => undefined }, frame, 'inspect', args);
  const result = await awaitWithin(inspection, InspectionTimeoutMs);
  if (result === undefined) controller.abort('the frame did not answer in time');
  return result;
}
