//! The vendors whose endpoints speak Anthropic's Messages API, as they document it themselves.

use crate::config::profile::{API_KEY, AUTH_TOKEN};

pub struct Preset {
    pub name: &'static str,
    pub vendor: &'static str,
    pub base_url: &'static str,
    /// The variable that holds the key; it also decides which header carries it.
    pub key: &'static str,
    pub model: Option<&'static str>,
    pub small_model: Option<&'static str>,
    /// The endpoint accepts Claude's model names too, natively or by mapping them.
    pub claude_names: bool,
    pub extra: &'static [(&'static str, &'static str)],
}

const PLAIN: Preset = Preset {
    name: "",
    vendor: "",
    base_url: "",
    key: AUTH_TOKEN,
    model: None,
    small_model: None,
    claude_names: false,
    extra: &[],
};

const KIMI: Preset = Preset { model: Some("kimi-k3"), small_model: Some("kimi-k2.5"), ..PLAIN };
const GLM: Preset = Preset { claude_names: true, extra: &[("API_TIMEOUT_MS", "3000000")], ..PLAIN };
const QWEN: Preset =
    Preset { model: Some("qwen3-coder-plus"), small_model: Some("qwen-flash"), ..PLAIN };
const MINIMAX: Preset = Preset {
    model: Some("MiniMax-M3"),
    small_model: Some("MiniMax-M2.7"),
    extra: &[("API_TIMEOUT_MS", "3000000")],
    ..PLAIN
};

pub const PRESETS: &[Preset] = &[
    Preset {
        name: "anthropic",
        vendor: "Anthropic",
        base_url: "https://api.anthropic.com",
        key: API_KEY,
        claude_names: true,
        ..PLAIN
    },
    Preset {
        name: "deepseek",
        vendor: "DeepSeek",
        base_url: "https://api.deepseek.com/anthropic",
        model: Some("deepseek-v4-pro"),
        claude_names: true,
        ..PLAIN
    },
    Preset { name: "glm", vendor: "Z.ai GLM", base_url: "https://api.z.ai/api/anthropic", ..GLM },
    Preset {
        name: "glm-cn",
        vendor: "Zhipu GLM, China",
        base_url: "https://open.bigmodel.cn/api/anthropic",
        ..GLM
    },
    Preset {
        name: "kimi",
        vendor: "Moonshot Kimi",
        base_url: "https://api.moonshot.ai/anthropic",
        ..KIMI
    },
    Preset {
        name: "kimi-cn",
        vendor: "Moonshot Kimi, China",
        base_url: "https://api.moonshot.cn/anthropic",
        ..KIMI
    },
    Preset {
        name: "kimi-code",
        vendor: "Kimi membership",
        base_url: "https://api.kimi.com/coding",
        key: API_KEY,
        claude_names: true,
        ..PLAIN
    },
    Preset {
        name: "minimax",
        vendor: "MiniMax",
        base_url: "https://api.minimax.io/anthropic",
        ..MINIMAX
    },
    Preset {
        name: "minimax-cn",
        vendor: "MiniMax, China",
        base_url: "https://api.minimaxi.com/anthropic",
        ..MINIMAX
    },
    Preset {
        name: "openrouter",
        vendor: "OpenRouter",
        base_url: "https://openrouter.ai/api",
        claude_names: true,
        // Empty on purpose: otherwise an Anthropic key would be sent along.
        extra: &[(API_KEY, "")],
        ..PLAIN
    },
    Preset {
        name: "qwen",
        vendor: "Alibaba Qwen, Singapore",
        base_url: "https://dashscope-intl.aliyuncs.com/apps/anthropic",
        ..QWEN
    },
    Preset {
        name: "qwen-cn",
        vendor: "Alibaba Qwen, China",
        base_url: "https://dashscope.aliyuncs.com/apps/anthropic",
        ..QWEN
    },
];

pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

pub fn names() -> String {
    PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::provider::{draft, name};

    #[test]
    fn every_preset_can_be_added_under_its_own_name() {
        let mut seen = std::collections::HashSet::new();
        for preset in PRESETS {
            name::check(preset.name).unwrap();
            draft::check_url(preset.base_url).unwrap();
            assert!(preset.base_url.starts_with("https://"), "{}", preset.name);
            assert!(seen.insert(preset.name) && seen.insert(preset.base_url), "{}", preset.name);
            assert!(preset.model.is_some() || preset.claude_names, "{}", preset.name);
        }
    }
}
