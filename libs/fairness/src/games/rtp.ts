import { type Rational, rational } from '@pitboss/money/rational'

/** R of a game that has no other: 99 % of stakes go back to players. Source: docs/contract.md, section 4. */
export const DEFAULT_RTP: Rational = rational(99n, 100n)
