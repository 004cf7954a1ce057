import { z } from 'zod'

/** Access tokens: compact JWS, Ed25519, `kid` and `typ` in the header. docs/contract.md, section 3. */

export const tokenIssuer = 'pitboss'

/** The only accepted algorithm, whatever a header says. */
export const tokenAlgorithm = 'EdDSA'

export const audience = z.enum(['operator-api', 'game-launcher', 'dashboard'])
export type Audience = z.infer<typeof audience>

/** The `typ` header of each audience, so that a token of one can never pass for another. */
export const tokenTypes = {
  'operator-api': 'pitboss-operator+jwt',
  'game-launcher': 'pitboss-launch+jwt',
  dashboard: 'pitboss-dashboard+jwt',
} as const satisfies Record<Audience, string>

/** The `typ` header of the signed events manifest. */
export const manifestType = 'pitboss-manifest+jws' as const

/** The `typ` header of the signed record of a player's stop. */
export const stopRecordType = 'pitboss-stop+jws' as const

/** Exactly these; a header that brings a key or an extension of its own is refused. */
export const tokenHeaderSchema = z.strictObject({
  alg: z.literal(tokenAlgorithm),
  kid: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  typ: z.string(),
})

/** Begins the `jti` of a token that the gateway passes on: it is good for calls, never at the edge. */
const passedOnPrefix = 'fwd_'

/** `sub` is the api key, session id or user id; `op` the operator's uuid; empty `scp` is unrestricted. */
export const tokenClaimsSchema = z.strictObject({
  iss: z.literal(tokenIssuer),
  aud: audience,
  sub: z.string().min(1).max(64),
  op: z.uuid(),
  mode: z.enum(['TEST', 'LIVE']),
  scp: z.array(z.string().max(64)).max(20),
  iat: z.int().min(0),
  exp: z.int().min(0),
  jti: z.string().min(1).max(64),
  /** The session of a person, in dashboard tokens alone. */
  sid: z.string().min(1).max(64).optional(),
  /** In a token of the edge, the one that the gateway passes on with its calls in its place. */
  fwd: z.string().max(2048).optional(),
})
export type TokenClaims = z.infer<typeof tokenClaimsSchema>

/** The `jti` of a token that is passed on. @param id random */
export function passedOnJti(id: string): string {
  return `${passedOnPrefix}${id}`
}

/** Whether a token was made to be passed on. Tokens of earlier builds were not, and hold none. */
export function isPassedOn({ jti }: Pick<TokenClaims, 'jti'>): boolean {
  return jti.startsWith(passedOnPrefix)
}
