import type { VNode } from 'preact';
import type { CallFailure } from '../../../wire/wire.gen.ts';
import { TextBlock } from './call-block.tsx';
import { CallSection } from './call-part.tsx';
import { escapeHidden } from './json-text.ts';
import { ScrollableArea } from './scrollable.tsx';
import type { LoadedDetails } from './use-call-details.ts';

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface DeveloperViewProps {
  readonly loadedDetails: LoadedDetails;
}

/** DeveloperView shows what a plugin's author needs to debug a call, such as the stack trace. */
export function DeveloperView({ loadedDetails }: DeveloperViewProps): VNode {
  return (
    <CallSection title="Developer" loadedDetails={loadedDetails}>
      {({ failure }) =>
        failure ? (
          <FailureDetails failure={failure} />
        ) : (
          <p class="note">The plugin’s log has nothing about this call.</p>
        )
      }
    </CallSection>
  );
}

function FailureDetails({ failure }: { readonly failure: CallFailure }): VNode {
  const { stack = [], hints: failureHints = [], log = [] } = failure;
  const stackText = escapeHidden(stack.map((frame) => `at ${frame}`).join('\n'));
  const logText = escapeHidden(
    log.map(({ atMs, level, message: logMessage }) => `${timeFormat.format(atMs)} ${level} ${logMessage}`).join('\n'),
  );
  return (
    <div class="failure">
      {failureHints.map((hint, i) => (
        <p key={i} class="hint">
          <strong>Hint:</strong> <bdi>{escapeHidden(hint)}</bdi>
        </p>
      ))}
      {stackText !== '' && (
        <TextBlock title="Stack" blockText={stackText}>
          <ScrollableArea class="pre" label="Stack">
            {stackText}
          </ScrollableArea>
        </TextBlock>
      )}
      {logText !== '' && (
        <TextBlock title="Log" blockText={logText}>
          <ScrollableArea class="pre" label="Log">
            {logText}
          </ScrollableArea>
          <p class="note">What the plugin logged in this tab during the call.</p>
        </TextBlock>
      )}
    </div>
  );
}
