import { useState } from 'preact/hooks'

const clientSeedPattern = /^[A-Za-z0-9_-]{0,64}$/
const seedAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const seedCharacters = 16

/** The player's choices for the next bet, whatever the game. */
export type BetSlip = {
  readonly stake: string
  readonly freeBet: boolean
  readonly clientSeed: string
  setStake(stake: string): void
  setFreeBet(freeBet: boolean): void
  setClientSeed(clientSeed: string): void
}

export function useBetSlip(initialStake: string): BetSlip {
  const [stake, setStake] = useState<string | null>(null)
  const [freeBet, setFreeBet] = useState(false)
  const [clientSeed, setClientSeed] = useState(newClientSeed)
  return {
    stake: stake ?? initialStake,
    freeBet,
    clientSeed,
    setStake,
    setFreeBet,
    setClientSeed,
  }
}

/** 16 random characters that a client seed may have. */
export function newClientSeed(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(seedCharacters))
  return Array.from(bytes, (byte) => seedAlphabet[byte % 64] ?? '').join('')
}

/** Fault of a client seed, or null. */
export function clientSeedProblem(seed: string): string | null {
  return clientSeedPattern.test(seed) ? null : 'Up to 64 letters, digits, "-" and "_".'
}
