import { z } from 'zod'
import { builders, defineEndpoint, ownerAndAdmin } from '../endpoint.ts'
import { approvalSchema, approvalStatus } from '../objects/approval.ts'
import { pageOf, pageQuery } from '../primitives.ts'

/** Grave acts that wait for a second person. Source: docs/contract.md, section 3, "Approval". */

const approvalParam = z.strictObject({ approval_id: z.string().max(64) })

export const listApprovals = defineEndpoint('GET /v1/dashboard/approvals', {
  access: builders,
  subject: 'auth.v1.approval.list',
  query: z.strictObject({ status: approvalStatus.optional(), ...pageQuery }),
  reply: pageOf(approvalSchema),
})
export const getApproval = defineEndpoint('GET /v1/dashboard/approvals/{approval_id}', {
  access: builders,
  subject: 'auth.v1.approval.show',
  params: approvalParam,
  reply: approvalSchema,
})
export const approveApproval = defineEndpoint('POST /v1/dashboard/approvals/{approval_id}/approve', {
  access: ownerAndAdmin,
  subject: 'auth.v1.approval.approve',
  params: approvalParam,
  reply: approvalSchema,
  // Longer than what is approved may take.
  budgetMs: 15_000,
})
export const rejectApproval = defineEndpoint('POST /v1/dashboard/approvals/{approval_id}/reject', {
  access: builders,
  subject: 'auth.v1.approval.reject',
  params: approvalParam,
  reply: approvalSchema,
})
