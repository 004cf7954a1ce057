/** Only for limits; after a change of rates run `npm run limits`. */
export const ratesAt = '2025-06-30'

/** Units worth a US dollar, roughly; the market's rate where the official one is not real. Source: ours. */
const table = `
  AED 3.67, AFN 70, ALL 83, AMD 385, ANG 1.79, AOA 915, ARS 1190, AUD 1.52, AWG 1.79, AZN 1.7
  BAM 1.66, BBD 2, BDT 122, BGN 1.66, BHD 0.376, BIF 2980, BMD 1, BND 1.27, BOB 6.9, BOV 2.5, BRL 5.45
  BSD 1, BTN 85.7, BWP 13.3, BYN 3.27, BZD 2
  CAD 1.36, CDF 2870, CHE 0.79, CHF 0.79, CHW 0.79, CLF 0.024, CNY 7.16, COP 4080, COU 10.5, CRC 505
  CUC 1, CUP 24, CVE 93.5, CZK 21
  DJF 178, DKK 6.33, DOP 59.5, DZD 130
  EGP 49.6, ERN 15, ETB 136
  FJD 2.24, FKP 0.73
  GEL 2.72, GHS 10.3, GIP 0.73, GMD 71.5, GNF 8660, GTQ 7.68, GYD 209
  HKD 7.85, HNL 26.1, HTG 131, HUF 339
  ILS 3.37, IQD 1310, IRR 900000, ISK 121
  JMD 160, JOD 0.709
  KES 129, KGS 87.4, KHR 4010, KMF 418, KPW 900, KWD 0.306, KYD 0.83, KZT 519
  LAK 21600, LBP 89500, LKR 300, LRD 200, LSL 17.7, LYD 5.4
  MAD 9, MDL 16.8, MGA 4400, MKD 52.3, MMK 2100, MNT 3580, MOP 8.08, MRU 39.7, MUR 45, MVR 15.4
  MWK 1730, MXN 18.8, MXV 2.2, MYR 4.21, MZN 63.9
  NAD 17.7, NGN 1530, NIO 36.8, NOK 10.1, NPR 137, NZD 1.64
  OMR 0.385
  PAB 1, PEN 3.54, PGK 4.13, PHP 56.3, PKR 284, PLN 3.61, PYG 7980
  QAR 3.64
  RON 4.31, RSD 99.5, RUB 78.5, RWF 1440
  SAR 3.75, SBD 8.35, SCR 14.1, SDG 600, SEK 9.46, SGD 1.27, SHP 0.73, SLE 22.5, SOS 571, SRD 37.8
  SSP 4600, STN 20.9, SVC 8.75, SYP 11000, SZL 17.7
  THB 32.5, TJS 9.9, TMT 3.5, TND 2.88, TOP 2.36, TRY 39.8, TTD 6.79, TWD 29.2, TZS 2630
  UAH 41.7, UGX 3590, USN 1, UYI 6.4, UYU 40, UYW 0.022, UZS 12600
  VED 108, VES 108, VUV 119
  WST 2.72
  XAF 557, XCD 2.7, XCG 1.79, XOF 557, XPF 101
  YER 243
  ZAR 17.7, ZMW 24, ZWG 26.9
`

export const unitsPerDollar: Readonly<Record<string, string>> = Object.fromEntries(
  table.split(/[,\n]/).flatMap((pair) => {
    const [code = '', units] = pair.trim().split(' ')
    return units === undefined ? [] : [[code, units]]
  }),
)
