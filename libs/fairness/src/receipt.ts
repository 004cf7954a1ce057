import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** What a page showed of a finished round. No part has a line break. */
export type ShownRound = {
  readonly roundId: string
  /** The name of the page's script, which names its content. */
  readonly build: string
  /** The language that the page was shown in. */
  readonly language: string
  /** `roundLineVersion` of the page. */
  readonly textVersion: number
  /** The sentence as it was drawn. */
  readonly text: string
}

/**
 * The hash of a receipt: hex SHA-256 of six lines in UTF-8, joined by a line feed: `pitboss-receipt-1`, round
 * id, build, language, version of the sentences, sentence. Source: docs/contract.md, section 4, "Receipts".
 */
export function receiptHash({ roundId, build, language, textVersion, text }: ShownRound): string {
  const lines = ['pitboss-receipt-1', roundId, build, language, String(textVersion), text]
  return bytesToHex(sha256(utf8ToBytes(lines.join('\n'))))
}
