const most = '1000000'

/** Limits and shedding out of the way: a benchmark asks what the work costs, not when it is refused. */
export const raisedLimits: Readonly<Record<string, string>> = {
  PITBOSS_LIMIT_OPERATOR_PER_S: most,
  PITBOSS_LIMIT_OPERATOR_BURST: most,
  PITBOSS_LIMIT_LAUNCHER_PER_S: most,
  PITBOSS_LIMIT_DASHBOARD_PER_S: most,
  PITBOSS_LIMIT_MINT_KEY_PER_MIN: most,
  PITBOSS_LIMIT_MINT_ADDRESS_PER_MIN: most,
  PITBOSS_LIMIT_LOGIN_EMAIL_PER_MIN: most,
  PITBOSS_LIMIT_LOGIN_ADDRESS_PER_MIN: most,
  PITBOSS_SHED_READ_DELAY_MS: '60000',
  PITBOSS_SHED_STAKE_DELAY_MS: '60000',
  PITBOSS_SHED_READ_IN_FLIGHT: most,
  PITBOSS_SHED_STAKE_IN_FLIGHT: most,
}
