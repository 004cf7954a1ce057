import { readFileSync } from 'node:fs'
import t from 'tap'
import { z } from 'zod'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
})

const folders = ['../../../', '../../clients/generators/']

for (const folder of folders) {
  const text = readFileSync(new URL(`${folder}package-lock.json`, import.meta.url), 'utf8')
  const { packages } = lockSchema.parse(JSON.parse(text))

  await t.test(
    `what ${folder} installs is what was locked, on every platform, and runs nothing of its own`,
    async (t) => {
      const fetched = Object.entries(packages).filter(
        ([path, { link }]) => path.includes('node_modules/') && link !== true,
      )
      const named = (found: typeof fetched) => found.map(([path]) => path)
      t.ok(fetched.length > 0)
      t.strictSame(named(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))), [])
      t.strictSame(named(fetched.filter(([, { hasInstallScript }]) => hasInstallScript === true)), [])
    },
  )

  await t.test(
    `the lock file of ${folder} names the optional packages of every platform, without which npm ci refuses to install, and no host`,
    async (t) => {
      const installed = Object.keys(packages)
      const isLocked = (name: string) => installed.some((path) => path.endsWith(`node_modules/${name}`))
      const wanted = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
      t.strictSame(
        wanted.filter((name) => !isLocked(name)),
        [],
      )
      t.notMatch(text, /"resolved": "http/)
    },
  )
}
