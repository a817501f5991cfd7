import { useState } from 'preact/hooks';

export interface PermissionChange {
  readonly error: string;
  /** Chrome allows requests for permissions only in response to a user's click. */
  change(): Promise<{ error?: string }>;
}

export function usePermissionChange(send: () => Promise<boolean>, verb: 'grant' | 'revoke'): PermissionChange {
  const [error, setError] = useState('');
  const change = async () => {
    setError('');
    const problem = await send().then(
      (isChanged) => (isChanged ? undefined : `Chrome did not ${verb} the permission.`),
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    );
    if (problem === undefined) return {};
    setError(problem);
    return { error: problem };
  };
  return { error, change };
}
