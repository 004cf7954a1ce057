import type { Costs, Ground } from './plan-capacity.ts'

/**
 * One machine of two cores with nothing else at work, a replica of each service, rounds of dice of which half
 * won, embedded engines: `npm run capacity -- --measure` on 2026-11-29. Source: docs/capacity.md.
 */
export const costs: Costs = {
  points: [
    {
      roundsPerSecond: 0,
      cores: {
        gateway: 0.0017,
        auth: 0.0042,
        rounds: 0.0064,
        'wallet-bridge': 0.0113,
        webhooks: 0.0089,
        engines: 0.0189,
      },
    },
    {
      roundsPerSecond: 20.0,
      cores: {
        gateway: 0.0393,
        auth: 0.0075,
        rounds: 0.1465,
        'wallet-bridge': 0.1218,
        webhooks: 0.1356,
        engines: 0.2655,
      },
    },
    {
      roundsPerSecond: 60.0,
      cores: {
        gateway: 0.0742,
        auth: 0.0033,
        rounds: 0.275,
        'wallet-bridge': 0.276,
        webhooks: 0.2088,
        engines: 0.4451,
      },
    },
    {
      roundsPerSecond: 119.6,
      cores: {
        gateway: 0.1044,
        auth: 0.0074,
        rounds: 0.3213,
        'wallet-bridge': 0.3058,
        webhooks: 0.1974,
        engines: 0.5206,
      },
    },
  ],
  // Means of two runs; what they show of wallet-bridge and webhooks is noise.
  readMs: { gateway: 0.9, auth: 0.1, rounds: 0.8, engines: 1 },
  bytesPerRound: { rounds: 3875, wallet_bridge: 3303, webhooks: 2553, events_stream: 3145 },
  documentsPerRound: { rounds: 4.6, wallet_bridge: 5.9, webhooks: 4.0 },
  eventsPerRound: 3.5,
  walletCallsPerRound: 1.5,
}

/** What production's overlay of deploy/k8s gives, and what nobody has measured. */
export const ground: Ground = {
  coresAsked: { gateway: 0.5, auth: 0.25, rounds: 0.5, 'wallet-bridge': 0.5, webhooks: 0.5 },
  shareOfCores: 0.65,
  replicasMin: 3,
  replicasMax: { gateway: 20, auth: 8, rounds: 20, 'wallet-bridge': 8, webhooks: 8 },
  documentsPerPrimary: 20_000,
  streamBytesMax: 16_384 * 2 ** 20,
  streamHours: 20,
  endpointInFlight: 8,
  receiverMs: 50,
}

/** The rate that production's overlay is sized for. Source: docs/capacity.md. */
export const sizedFor = { operators: 20, roundsPerSecond: 50 }
