import { join } from 'node:path'
import { findProgram } from '@pitboss/engines/engine-settings'
import { EngineError } from '@pitboss/engines/engine-error'
import { fetchDebianProgram } from '@pitboss/engines/fetch/fetch-debian-program'
import { runProgram } from '@pitboss/engines/fetch/run-program'

/**
 * Without a public transparency log: who verifies has the public key from us, and nothing is told to others.
 */
const offline = ['--yes', '--use-signing-config=false', '--tlog-upload=false']

/** Names of the files that lie beside an image. */
export const filesOf = (name: string) => ({
  billOfMaterials: `${name}.cdx.json`,
  provenance: `${name}.provenance.json`,
  signature: `${name}.sigstore.json`,
  signedBillOfMaterials: `${name}.cdx.sigstore.json`,
  signedProvenance: `${name}.provenance.sigstore.json`,
})

/** cosign: `COSIGN_BIN`, the PATH, or Debian's package, fetched once. @throws EngineError without any */
export async function findCosign(env: NodeJS.ProcessEnv): Promise<string> {
  return findProgram(env, 'COSIGN_BIN', 'cosign')?.path ?? fetchDebianProgram(env, 'cosign')
}

/**
 * Signs an image's manifest, and with it its documents, which lie in `folder`. `key` is a file, whose
 * password is in `COSIGN_PASSWORD`, or an address of a key service that cosign knows.
 * @throws EngineError with cosign's words
 */
export async function signImage({
  manifest,
  folder,
  name,
  key,
  env,
}: {
  manifest: string
  folder: string
  name: string
  key: string
  env: NodeJS.ProcessEnv
}): Promise<void> {
  if (env.COSIGN_PASSWORD === undefined && !key.includes('://'))
    throw new EngineError('COSIGN_PASSWORD must hold the password of the key file (it may be empty)')
  const cosign = await findCosign(env)
  const files = filesOf(name)
  const run = (command: string, bundle: string, ...args: string[]) =>
    runProgram(
      cosign,
      [command, '--key', key, ...offline, '--bundle', join(folder, bundle), ...args, manifest],
      {
        env,
      },
    )
  await run('sign-blob', files.signature)
  const attest = (bundle: string, type: string, document: string) =>
    run('attest-blob', bundle, '--type', type, '--predicate', join(folder, document))
  await attest(files.signedBillOfMaterials, 'cyclonedx', files.billOfMaterials)
  await attest(files.signedProvenance, 'slsaprovenance1', files.provenance)
}
