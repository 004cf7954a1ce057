import { summaryOf } from '@pitboss/contracts/certification/progress'
import type {
  walletCertificationSchema,
  walletCertificationSummarySchema,
} from '@pitboss/contracts/objects/certification'
import type { z } from 'zod'
import type { CertificationDocument } from '../storage/certification-store.ts'

/** The public record of a certification without its cases. Source: docs/contract.md, section 3. */
export function toCertificationSummary(
  document: Omit<CertificationDocument, 'cases'>,
): z.infer<typeof walletCertificationSummarySchema> {
  return {
    ...summaryOf(document),
    player_id: document.playerId,
    currency: document.currency,
    blocked_player_id: document.blockedPlayerId,
    unknown_player_id: document.unknownPlayerId,
  }
}

export function toCertification(document: CertificationDocument): z.infer<typeof walletCertificationSchema> {
  return { ...toCertificationSummary(document), cases: [...document.cases] }
}
