import { walletSchema } from '@pitboss/contracts/objects/wallet'
import { useQueryClient } from '@tanstack/react-query'
import { RotateSecret } from '../parts/rotate-secret.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

type RotateWalletProps = {
  readonly path: string
  readonly onSecret: (secret: string) => void
  readonly onClose: () => void
}

/** Gives the wallet a new secret, with an overlap of choice. */
export function RotateWallet({ path, onSecret, onClose }: RotateWalletProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const rotatePath = `${path}/rotate-secret`
  return (
    <RotateSecret
      title="Rotate the wallet's secret"
      hint="So long each call carries a signature by the new secret and one by the old, separated by a space; your wallet has to take either. Without overlap it refuses our requests until it has the new one, and stakes fail."
      path={rotatePath}
      daysMax={1}
      usualS={0}
      send={async (body) => {
        const { secret } = await api.send(walletSchema, 'POST', rotatePath, { body })
        onClose()
        if (secret !== undefined) onSecret(secret)
        await queries.invalidateQueries()
      }}
      onClose={onClose}
    />
  )
}
