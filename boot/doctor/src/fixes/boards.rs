//! Boards whose random device has a driver in Linux, by words of their logs.
//!
//! Sources: drivers/char/hw_random/Kconfig and drivers/crypto/*/Kconfig of Linux 6.18. A board
//! without a row, or with a row without a driver, gets general advice.

/// A family of boards.
pub(crate) struct Board {
    /// A word that only logs of these boards hold, or the name in their device tree.
    mark: &'static str,
    /// The family's name.
    pub(crate) name: &'static str,
    /// The module of the random device's driver, and the symbol that builds it.
    pub(crate) driver: Option<(&'static str, &'static str)>,
}

const fn board(
    mark: &'static str,
    name: &'static str,
    driver: (&'static str, &'static str),
) -> Board {
    Board { mark, name, driver: Some(driver) }
}

const fn without(mark: &'static str, name: &'static str) -> Board {
    Board { mark, name, driver: None }
}

const BCM2835: (&str, &str) = ("bcm2835_rng", "CONFIG_HW_RANDOM_BCM2835");
const IPROC: (&str, &str) = ("iproc_rng200", "CONFIG_HW_RANDOM_IPROC_RNG200");
const OMAP: (&str, &str) = ("omap_rng", "CONFIG_HW_RANDOM_OMAP");
const MESON: (&str, &str) = ("meson_rng", "CONFIG_HW_RANDOM_MESON");
const SUN8I: (&str, &str) = ("sun8i_ce", "CONFIG_CRYPTO_DEV_SUN8I_CE_TRNG");
const ROCKCHIP: (&str, &str) = ("rockchip_rng", "CONFIG_HW_RANDOM_ROCKCHIP");

/// The table, the more specific rows first. A mark must not occur on a PC: many PCs have parts of
/// the same makers.
const TABLE: [Board; 36] = [
    board("Raspberry Pi 4", "Raspberry Pi 4", IPROC),
    board("Raspberry Pi 5", "Raspberry Pi 5", IPROC),
    board("bcm2711", "Raspberry Pi 4", IPROC),
    board("Raspberry Pi", "Raspberry Pi", BCM2835),
    board("bcm2835", "Raspberry Pi", BCM2835),
    board("BCM2835", "Raspberry Pi", BCM2835),
    board("bcm2708", "Raspberry Pi", BCM2835),
    board("caam ", "NXP i.MX or Layerscape", ("caam_jr", "CONFIG_CRYPTO_DEV_FSL_CAAM_RNG_API")),
    board("caam_jr ", "NXP i.MX or Layerscape", ("caam_jr", "CONFIG_CRYPTO_DEV_FSL_CAAM_RNG_API")),
    board("imx-rngc", "NXP i.MX", ("imx_rngc", "CONFIG_HW_RANDOM_IMX_RNGC")),
    without("fsl_enetc ", "NXP Layerscape"),
    board("BeagleBone", "TI AM335x", OMAP),
    board("AM335x", "TI AM335x", OMAP),
    board("AM33XX", "TI AM335x", OMAP),
    board("omap_", "TI OMAP", OMAP),
    board("meson", "Amlogic", MESON),
    board("Amlogic", "Amlogic", MESON),
    board("sun8i", "Allwinner", SUN8I),
    board("sun50i", "Allwinner", SUN8I),
    board("Allwinner", "Allwinner", SUN8I),
    board("Orange Pi", "Allwinner", SUN8I),
    board("rockchip", "Rockchip", ROCKCHIP),
    board("Rockchip", "Rockchip", ROCKCHIP),
    board("exynos", "Samsung Exynos", ("exynos_trng", "CONFIG_HW_RANDOM_EXYNOS")),
    board("octeon", "Cavium Octeon", ("octeon_rng", "CONFIG_HW_RANDOM_OCTEON")),
    board("stm32-", "STM32MP", ("stm32_rng", "CONFIG_HW_RANDOM_STM32")),
    board("at91", "Microchip SAMA5", ("atmel_rng", "CONFIG_HW_RANDOM_ATMEL")),
    board("jh7110", "StarFive JH7110", ("jh7110_trng", "CONFIG_HW_RANDOM_JH7110")),
    board("aspeed", "ASPEED", ("timeriomem_rng", "CONFIG_HW_RANDOM_TIMERIOMEM")),
    without("mtk_soc_eth", "MediaTek"),
    without("ath79", "Qualcomm Atheros"),
    without("emaclite", "Xilinx"),
    without("zynq", "Xilinx Zynq"),
    without("VexRiscv", "VexRiscv"),
    without("lichee", "T-Head TH1520"),
    without(" macb ", "a board with Cadence's network device"),
];

/// Returns the family that a text belongs to.
pub(crate) fn of(text: &str) -> Option<&'static Board> {
    TABLE.iter().find(|board| text.contains(board.mark))
}

/// Returns the family of this name.
pub(crate) fn of_name(name: &str) -> Option<&'static Board> {
    TABLE.iter().find(|board| board.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_hides_a_later_one() {
        for (at, board) in TABLE.iter().enumerate() {
            let hidden = TABLE[..at].iter().find(|other| board.mark.contains(other.mark));
            assert!(hidden.is_none(), "{} hides {}", hidden.unwrap().mark, board.mark);
        }
        let driver = |text: &str| of(text).and_then(|board| board.driver).map(|driver| driver.0);
        assert_eq!(driver("Raspberry Pi Zero W Rev 1.1"), Some("bcm2835_rng"));
        assert_eq!(driver("Raspberry Pi 4 Model B"), Some("iproc_rng200"));
        assert_eq!(driver("mtk_soc_eth 1e100000.ethernet eth0"), None);
        assert!(of("[    0.0] DMI: Dell Inc. PowerEdge R640").is_none());
    }
}
