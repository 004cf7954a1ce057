import type { Role } from '@pitboss/contracts/caller'

/** A scope, or what no scope can ever grant. */
export type ScopeRule = `${string}:read` | `${string}:write` | 'unrestricted'

/** Which tokens a route takes, by audience; an audience that is missing is refused. */
export type Access = {
  readonly 'operator-api'?: ScopeRule
  readonly 'game-launcher'?: 'that session'
  readonly dashboard?: readonly Role[]
}

/** What a route wants, in words for an error message. */
export function wantedText(access: Access): string {
  const wanted: string[] = []
  const scope = access['operator-api']
  if (scope === 'unrestricted') wanted.push('an operator-api token of a credential without scopes')
  else if (scope !== undefined) wanted.push(`an operator-api token with the scope ${scope}`)
  if (access['game-launcher'] !== undefined) wanted.push('a game-launcher token')
  if (access.dashboard !== undefined) wanted.push('a dashboard token')
  return wanted.join(' or ')
}
