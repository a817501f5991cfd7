import type { VNode } from 'preact';
import { CallSection } from './call-part.tsx';
import { formatPhase, makeTimingRows, sumPhases } from './timing.ts';
import type { LoadedDetails } from './use-call-details.ts';
import { removeHiddenCharacters } from './wording.ts';

interface CallTimingProps {
  readonly loadedDetails: LoadedDetails;
}

export function CallTiming({ loadedDetails }: CallTimingProps): VNode {
  return (
    <CallSection title="Timing" loadedDetails={loadedDetails}>
      {({ phases: callPhases = [], traced, traceId }) => (
        <>
          <table class="timing">
            <caption>{formatPhase(sumPhases(callPhases))} from the arrival of the call to its end</caption>
            <thead>
              <tr>
                <th scope="col">Phase</th>
                <th scope="col">Start</th>
                <th scope="col">Time</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {makeTimingRows(callPhases).map(({ name, startText, durationText, barStart, end: barEnd }, i) => (
                <tr key={i}>
                  <th scope="row">{name}</th>
                  <td>{startText}</td>
                  <td>{durationText}</td>
                  <td class="span">
                    <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
                      <rect x={barStart} width={barEnd - barStart} height="1" />
                    </svg>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {traced !== true && (
            <p class="note">Calls in quick succession are not traced, so only the waits and the run are known.</p>
          )}
          {traceId && (
            <dl>
              <div>
                <dt>Trace</dt>
                <dd>
                  <bdi>{removeHiddenCharacters(traceId)}</bdi>
                </dd>
              </div>
            </dl>
          )}
        </>
      )}
    </CallSection>
  );
}
