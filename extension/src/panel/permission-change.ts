import { useState } from 'preact/hooks';

export interface PermissionChange {
  readonly error: string;
  /** Chrome allows requests for permissions only in response to a user's click. */
  changePermission(): Promise<{ error?: string }>;
}

export function usePermissionChange(
  sendChange: () => Promise<boolean>,
  changeVerb: 'grant' | 'revoke',
): PermissionChange {
  const [error, setError] = useState('');
  const changePermission = async () => {
    setError('');
    const changeProblem = await sendChange().then(
      (isChanged) => (isChanged ? undefined : `Chrome did not ${changeVerb} the permission.`),
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    );
    if (changeProblem === undefined) return {};
    setError(changeProblem);
    return { error: changeProblem };
  };
  return { error, changePermission };
}
