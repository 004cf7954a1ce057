/** One POST of a certification. `path` follows the base address: `/debit`, or nothing for a receiver. */
export type ExchangeRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

/**
 * What is odd about an answer and is taken all the same: interim answers that nobody asked for, a length
 * beside chunks, a length that is repeated, an encoding although none was asked for, an encoding that it does
 * not have, and a success whose body does not end.
 */
export type Oddity =
  | 'interim'
  | 'length-and-chunks'
  | 'repeated-length'
  | 'encoded'
  | 'misencoded'
  | 'unfinished'

export type Exchanged =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly contentType: string
      /** Without its encoding. */
      readonly body: Uint8Array
      readonly oddities: readonly Oddity[]
      readonly latencyMs: number
    }
  | {
      readonly kind: 'failure'
      /** In words for whoever owns the other side. */
      readonly error: string
      readonly remedy: string
      readonly latencyMs: number
    }

/**
 * Sends and gives what came back: one deadline over the whole exchange, redirects never followed. A
 * time-out, a refused or broken connection and an answer of more than 64 KiB are failures, not errors.
 */
export type Post = (request: ExchangeRequest) => Promise<Exchanged>

/** How calls and deliveries are signed: `libs/signing`, which does not run in a browser. */
export type Signing = {
  readonly signBody: (secret: string, timestamp: string, rawBody: string) => string
  /** The ten digits of the Unix seconds. */
  readonly signatureTimestamp: (at: Date) => string
}

/** What a certification needs of the world. */
export type CertificationEdges = {
  readonly post: Post
  readonly signing: Signing
  readonly now: () => Date
  readonly newUuid: () => string
}
