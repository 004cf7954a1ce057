import { writeFile } from 'node:fs/promises'
import { caseText, junitText, summaryText } from '../certify/report.ts'
import type { CaseResult, CertificationReport } from '../certify/run-cases.ts'

export type CertificationOutput = { json: boolean; junit?: string | undefined }

/**
 * Runs a certification and writes its report: readable lines as cases end, or JSON at the end, and JUnit XML
 * to a file.
 * @returns the exit code: 0 certified, 1 not
 */
export async function reportCertification(
  { json, junit }: CertificationOutput,
  certify: (onResult: (result: CaseResult) => void) => Promise<CertificationReport>,
): Promise<number> {
  // Before minutes of work, not after them.
  if (junit !== undefined) await writeFile(junit, '')
  let group = ''
  const report = await certify((result) => {
    if (json) return
    if (result.group !== group) process.stdout.write(`\n${result.group}\n`)
    group = result.group
    process.stdout.write(`${caseText(result)}\n`)
  })
  if (junit !== undefined) await writeFile(junit, junitText(report))
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : `${summaryText(report)}\n`)
  return report.certified ? 0 : 1
}
