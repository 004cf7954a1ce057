import { type Rational, rational } from '@pitboss/money/rational'

/** R of every game unless a catalogue says otherwise: 99 % of stakes go back to players. Source: contract section 4. */
export const DEFAULT_RTP: Rational = rational(99n, 100n)
